import type { Answer, Outflow } from '#bindings';

/** The streams that are being read: to be counted, and to be ended when the server stops. */
export interface Flows {
  readonly open: number;
  track(answer: Answer): Answer;
  /** Each says this yet and is over. */
  finishAll(text: string): void;
}

export function createFlows(): Flows {
  const open = new Set<Outflow>();
  return {
    get open() {
      return open.size;
    },
    track: (answer) => {
      const { body } = answer;
      if (body === null || typeof body === 'string') return answer;
      open.add(body);
      return { ...answer, body: tracked(body, () => open.delete(body)) };
    },
    finishAll: (text) => {
      for (const flow of open) flow.finish(text);
    },
  };
}

function tracked(flow: Outflow, onEnd: () => void): Outflow {
  return {
    next: async () => {
      const text = await flow.next();
      if (text === undefined) onEnd();
      return text;
    },
    cancel: () => {
      onEnd();
      flow.cancel();
    },
    finish: (text) => flow.finish(text),
    get isWhole() {
      return flow.isWhole;
    },
  };
}
