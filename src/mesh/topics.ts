import type { OutgoingMessage } from './broker.ts';

/** MQTT topics: levels separated by `/`. In a filter `+` matches one level and `#` all that follow. */

/** Whether a topic matches an MQTT filter with `+` and `#`. */
export function matches(filter: string, topic: string): boolean {
  const wanted = filter.split('/');
  const levels = topic.split('/');
  // Filters that begin with a wildcard do not match topics that begin with $ (MQTT 5 §4.7.2).
  if (topic.startsWith('$') && (wanted[0] === '+' || wanted[0] === '#')) return false;
  for (const [index, want] of wanted.entries()) {
    if (want === '#') return true;
    if (index >= levels.length) return false;
    if (want !== '+' && want !== levels[index]) return false;
  }
  return wanted.length === levels.length;
}

const TOPIC_BYTES_MAX = 65_535;

/** Whether a text can be published to: not empty, no wildcards, no NUL, at most 65,535 characters. */
export function isTopic(text: string): boolean {
  return text !== '' && text.length <= TOPIC_BYTES_MAX && !/[+#]/.test(text) && !text.includes('\0');
}

/** Whether a text is a valid filter: wildcards stand for whole levels, and `#` is last. */
export function isFilter(text: string): boolean {
  if (text === '' || text.length > TOPIC_BYTES_MAX || text.includes('\0')) return false;
  const levels = text.split('/');
  return levels.every((level, index) => {
    if (level === '#') return index === levels.length - 1;
    return level === '+' || !/[+#]/.test(level);
  });
}

/** Whether a name can be one level of a topic, without separators or wildcards. */
export function isLevel(text: string): boolean {
  return text !== '' && text.length <= 256 && !/[/+#*>\p{Cc}]/u.test(text);
}

/** MQTT strings have no control characters (MQTT 5 §1.5.4). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Why a message can't be published. A broker would close the connection because of it. */
export function publishProblem({ topic, properties, contentType = '', responseTopic = '' }: OutgoingMessage): string | undefined {
  if (!isTopic(topic)) return `${topic.slice(0, 100)} is not a topic`;
  if (responseTopic !== '' && !isTopic(responseTopic)) return `${responseTopic.slice(0, 100)} is not a valid response topic`;
  if (CONTROL.test(contentType)) return 'the property "content type" has control characters';
  for (const name in properties) {
    if (CONTROL.test(name) || CONTROL.test(properties[name] ?? '')) return `the property ${JSON.stringify(name)} has control characters`;
  }
  return undefined;
}
