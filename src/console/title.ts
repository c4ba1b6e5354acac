import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** What the page is about, for the title of the tab: the words of a task or of a conversation. */
export const subject = signal('');

/** Names what the page is about while it is shown. */
export function useSubject(words: string): void {
  useEffect(() => {
    subject.value = words;
    return () => {
      subject.value = '';
    };
  }, [words]);
}
