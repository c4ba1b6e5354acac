/** Reads the data of server-sent events one by one, from a stream that may stay open. */
export interface Frames {
  /** The next data. Undefined: the stream has ended. */
  next(): Promise<string | undefined>;
  /** The next data as JSON. */
  json(): Promise<Record<string, unknown> | undefined>;
  /** Everything up to the end. */
  rest(): Promise<readonly string[]>;
  cancel(): Promise<void>;
}

export function framesIn(response: Response): Frames {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = '';
  const next = async (): Promise<string | undefined> => {
    for (;;) {
      const end = buffered.indexOf('\n\n');
      if (end !== -1) {
        const data = /^data: (.*)$/m.exec(buffered.slice(0, end))?.[1];
        buffered = buffered.slice(end + 2);
        if (data !== undefined) return data;
        continue;
      }
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) return undefined;
      buffered += chunk.value;
    }
  };
  return {
    next,
    json: async () => {
      const data = await next();
      return data === undefined ? undefined : JSON.parse(data);
    },
    rest: async () => {
      const all: string[] = [];
      for (let data = await next(); data !== undefined; data = await next()) all.push(data);
      return all;
    },
    cancel: async () => void (await reader?.cancel()),
  };
}
