import type { Json, JsonObject } from '#protocol';

/** A client of one agent over HTTP+JSON. */
export interface Talk {
  send(text: string, more?: JsonObject): Promise<JsonObject>;
  /** Sends, and calls `seen` for each event. Returns when the stream ends or `seen` returns true. */
  stream(text: string, seen: (event: JsonObject) => boolean | undefined): Promise<readonly JsonObject[]>;
  get(task: string): Promise<JsonObject>;
  cancel(task: string): Promise<JsonObject>;
}

export function talkTo(url: string, token?: string): Talk {
  const headers = {
    'Content-Type': 'application/json',
    'A2A-Version': '1.0',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  const ask = async (method: string, path: string, body?: Json): Promise<JsonObject> => {
    const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const answer = (await response.json()) as JsonObject;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const message = (text: string, more: JsonObject = {}): JsonObject => ({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
  });
  return {
    send: async (text, more) => (await ask('POST', '/message:send', message(text, more)))['task'] as JsonObject,
    get: (task) => ask('GET', `/tasks/${task}`),
    cancel: (task) => ask('POST', `/tasks/${task}:cancel`, {}),
    stream: async (text, seen) => {
      const response = await fetch(`${url}/message:stream`, {
        method: 'POST',
        headers,
        body: JSON.stringify(message(text)),
      });
      const events: JsonObject[] = [];
      let rest = '';
      for await (const chunk of response.body ?? []) {
        rest += new TextDecoder().decode(chunk);
        const frames = rest.split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) {
          const data = /^data: (.*)$/m.exec(frame)?.[1];
          if (data === undefined) continue;
          const event = JSON.parse(data) as JsonObject;
          events.push(event);
          if (seen(event) === true) return events; // leaving the loop closes the connection
        }
      }
      return events;
    },
  };
}
