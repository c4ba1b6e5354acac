import type { OutgoingMessage } from './broker.ts';

/** MqttTopics as MQTT has them: levels split by `/`; `+` stands for one level of a filter, `#` for all that follow. */

export function matches(filter: string, topic: string): boolean {
  const wanted = filter.split('/');
  const levels = topic.split('/');
  // Filters that begin with a wildcard never see the broker's own topics (MQTT 5 §4.7.2).
  if (topic.startsWith('$') && (wanted[0] === '+' || wanted[0] === '#')) return false;
  for (const [index, want] of wanted.entries()) {
    if (want === '#') return true;
    if (index >= levels.length) return false;
    if (want !== '+' && want !== levels[index]) return false;
  }
  return wanted.length === levels.length;
}

const TOPIC_BYTES_MAX = 65_535;

export function isTopic(text: string): boolean {
  return text !== '' && text.length <= TOPIC_BYTES_MAX && !/[+#]/.test(text) && !text.includes('\0');
}

export function isFilter(text: string): boolean {
  if (text === '' || text.length > TOPIC_BYTES_MAX || text.includes('\0')) return false;
  const levels = text.split('/');
  return levels.every((level, index) => {
    if (level === '#') return index === levels.length - 1;
    return level === '+' || !/[+#]/.test(level);
  });
}

/** One level of a topic that a name is put into: it must not become two, nor a wildcard. */
export function isLevel(text: string): boolean {
  return text !== '' && text.length <= 256 && !/[/+#*>\p{Cc}]/u.test(text);
}

/** MQTT 5 §1.5.4: no control characters in its strings. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** What can't be sent, said before a broker closes the connection over it. */
export function publishProblem({ topic, properties, contentType = '', responseTopic = '' }: OutgoingMessage): string | undefined {
  if (!isTopic(topic)) return `${topic.slice(0, 100)} is not a topic`;
  if (responseTopic !== '' && !isTopic(responseTopic)) return `${responseTopic.slice(0, 100)} is not a topic to answer on`;
  if (CONTROL.test(contentType)) return 'the property "content type" has control characters';
  for (const name in properties) {
    if (CONTROL.test(name) || CONTROL.test(properties[name] ?? '')) return `the property ${JSON.stringify(name)} has control characters`;
  }
  return undefined;
}
