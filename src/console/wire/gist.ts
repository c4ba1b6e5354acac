import { isObject } from '#protocol';
import { stateWord } from '../ui/basic.tsx';

const TEXT_CHARS = 60;

function textIn(parts: unknown): string {
  const texts = (Array.isArray(parts) ? parts : []).map((part: unknown) =>
    isObject(part) && typeof part['text'] === 'string' ? part['text'] : '',
  );
  const text = texts.join('').replaceAll(/\s+/g, ' ');
  return text.length > TEXT_CHARS ? `${text.slice(0, TEXT_CHARS - 1)}…` : text;
}

/** What an event says, in the words of every dialect: its state, or the text of its artifact. Empty if it is something else. */
export function gistOf(value: unknown): string {
  if (!isObject(value)) return '';
  const { error, result, statusUpdate, artifactUpdate, task, message } = value;
  if (isObject(error)) return `error: ${String(error['message'] ?? error['code'] ?? '')}`;
  const inner = result ?? statusUpdate ?? artifactUpdate ?? task ?? (isObject(message) ? message : undefined);
  if (isObject(inner)) return gistOf(inner);
  const { artifact, status, parts } = value;
  if (isObject(artifact)) {
    const name = typeof artifact['name'] === 'string' ? ` ${artifact['name']}` : '';
    const text = textIn(artifact['parts']);
    return `artifact${name}${text === '' ? '' : ` “${text}”`}`;
  }
  if (isObject(status)) {
    const said = isObject(status['message']) ? textIn(status['message']['parts']) : '';
    return `${stateWord(String(status['state']))}${said === '' ? '' : ` “${said}”`}`;
  }
  return Array.isArray(parts) ? `message “${textIn(parts)}”` : '';
}
