import type { Answer, Outflow } from '#bindings';

/** The streams that are being read: to be counted, and to be ended when the server stops. */
export interface Flows {
  readonly open: number;
  track(answer: Answer): void;
  /** Each says this yet and is over. */
  finishAll(text: string): void;
}

export function createFlows(): Flows {
  const open = new Set<Outflow>();
  const forget = (flow: Outflow): void => void open.delete(flow);
  return {
    get open() {
      return open.size;
    },
    track: ({ body }) => {
      if (body === null || typeof body === 'string') return;
      open.add(body);
      body.onEnd(forget);
    },
    finishAll: (text) => {
      for (const flow of open) flow.finish(text);
    },
  };
}
