import type { TaskEvent } from '#protocol';

/** A frame of an event stream, as sent on the wire. */
export interface WireFrame {
  readonly raw: string;
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

/**
 * Reads an event stream by its grammar (HTML Living Standard §9.2.5) as our servers write it, and throws if the stream is
 * malformed. It is not our own parser, which tolerates more.
 */
export async function* framesOf(response: Response): AsyncGenerator<WireFrame, void> {
  if (response.body === null) throw new Error('no body');
  let rest = '';
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  for await (const bytes of response.body) {
    rest += utf8.decode(bytes, { stream: true });
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      yield frameOf(rest.slice(0, end + 2));
      rest = rest.slice(end + 2);
    }
  }
  // Retry hints and comments are lines without a blank line after them: they belong to the next frame, if there is one.
  if (!/^(?:(?:retry: \d+|:.*)\n)*$/.test(rest)) throw new Error(`a stream ended inside a frame: ${rest.slice(0, 200)}`);
}

const FIELD = /^(?:: ?(.*)|(id|event|data|retry): (.*))$/;

function frameOf(raw: string): WireFrame {
  const frame: Record<string, string> = {};
  for (const line of raw.slice(0, -2).split('\n')) {
    const match = FIELD.exec(line);
    if (match === null || /[\r\0]/.test(line)) throw new Error(`not a field of an event stream: ${JSON.stringify(line)}`);
    const [, comment, name = 'comment', value = comment ?? ''] = match;
    if (name in frame && name !== 'comment') throw new Error(`${name} twice in one frame: ${raw}`);
    frame[name] = value;
  }
  if (frame['id'] !== undefined && !/^[1-9]\d*$/.test(frame['id'])) throw new Error(`an invalid id: ${raw}`);
  if (frame['id'] !== undefined && frame['data'] === undefined) throw new Error(`an id without data: ${raw}`);
  return { raw, ...frame };
}

export function eventOf({ data }: WireFrame): TaskEvent {
  return JSON.parse(data ?? 'null') as TaskEvent;
}

/** The frames with data. A stream that breaks ends without an error; `onCut` gets the reason. */
export async function* eventsOf(response: Response, onCut?: (thrown: unknown) => void): AsyncGenerator<WireFrame, void> {
  try {
    for await (const frame of framesOf(response)) if (frame.data !== undefined) yield frame;
  } catch (thrown) {
    if (onCut === undefined || !(thrown instanceof TypeError)) throw thrown;
    onCut(thrown);
  }
}

export async function allOf<T>(from: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const each of from) all.push(each);
  return all;
}
