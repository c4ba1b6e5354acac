import { behave } from '../behaviour.ts';

/** CortexPrism's agent loop: a text in, a text out. It can't ask, and it returns no parts. */
export async function executed(text: string, contextId: string): Promise<string> {
  let answer = '';
  let failure: string | undefined;
  const add = (chunk: string): void => {
    answer += chunk;
  };
  await behave(
    { text, contextId, taskId: contextId, isCanceled: () => false },
    {
      text: add,
      ask: add,
      fail: (reason) => {
        failure = reason;
      },
      echo: () => {},
      complete: () => {},
      canceled: () => {},
    },
  );
  if (failure !== undefined) throw new Error(failure);
  return answer;
}
