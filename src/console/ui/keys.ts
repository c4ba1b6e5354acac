import { useEffect } from 'preact/hooks';

/** Whether keys write text where the focus is. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && target.type === 'checkbox') return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Calls a function with each key that is pressed alone, unless the user writes text. */
export function usePlainKeys(press: (key: string) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) press(event.key);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Moves the focus between elements with j and k. Returns the index of the one that has it, or -1. */
export function moveBy(key: string, all: readonly HTMLElement[]): number {
  const at = all.findIndex((one) => one.contains(document.activeElement));
  if (key === 'j') all[at + 1]?.focus();
  if (key === 'k') all[Math.max(0, at - 1)]?.focus();
  return at;
}
