import { A2AClient, isClientError } from '#client';
import { isA2AError } from '#protocol';

/** The checks for every runtime. They use no test library, because they also run in a Worker and in a web page. */
export interface Addresses {
  /** A node with `script` at its root. */
  readonly node: string;
  /** A server of web pages. */
  readonly pages: string;
}

export type Outcome = { readonly name: string; readonly ok: true } | { readonly name: string; readonly ok: false; readonly why: string };

export async function runSuite({ node, pages }: Addresses): Promise<readonly Outcome[]> {
  const client = await A2AClient.connect(node);
  const cases: Readonly<Record<string, () => Promise<void>>> = {
    'finds the card and says what it chose': async () => {
      same(client.connection.dialect, 'v10');
      same(client.card?.capabilities.streaming, true);
    },
    sends: async () => same(await client.send('chunks=2').text(), 'chunk 1chunk 2'),
    'sends over HTTP+JSON': async () =>
      same(await (await A2AClient.connect(node, { binding: 'HTTP+JSON' })).send('chunks=2').text(), 'chunk 1chunk 2'),
    'loads an older dialect when it is asked for': async () => {
      const older = await A2AClient.connect(node, { dialect: 'v03' });
      same(older.connection.dialect, 'v03');
      same(await older.send('chunks=2').text(), 'chunk 1chunk 2');
    },
    'streams two hundred chunks in order': async () => {
      const chunks: (string | undefined)[] = [];
      for await (const { artifactUpdate } of client.stream('chunks=200'))
        if (artifactUpdate !== undefined) chunks.push(artifactUpdate.artifact.parts[0]?.text);
      same(chunks.join(), Array.from({ length: 200 }, (_, at) => `chunk ${at + 1}`).join());
    },
    'asks and answers': async () => {
      const asked = client.send('ask');
      same((await asked.question())?.kind, 'input');
      same((await asked.answer('blue').text()).includes('blue'), true);
    },
    'cancels what it has begun': async () => {
      const handle = client.stream('sleep=60000');
      let state: string | undefined;
      for await (const { task, statusUpdate } of handle) {
        const first = state === undefined;
        state = (task ?? statusUpdate)?.status.state ?? state;
        if (first) await handle.cancel();
      }
      same(state, 'TASK_STATE_CANCELED');
    },
    'lists page by page': async () => {
      let seen = 0;
      for await (const _ of client.list({ pageSize: 2 })) seen += 1;
      same(seen > 2, true);
    },
    'carries bytes and other scripts': async () => {
      const echo = await A2AClient.connect(`${node}/agents/echo`);
      const { task } = await echo
        .send([{ text: 'čau 🌍' }, { raw: 'AAEC', mediaType: 'application/octet-stream', filename: 'x.bin' }])
        .result();
      same(JSON.stringify(task?.artifacts?.[0]?.parts.map(({ text, raw }) => text ?? raw)), '["čau 🌍","AAEC"]');
    },
    'says what the agent refused': async () => same(await kindOf(client.get('nobody')), 'TASK_NOT_FOUND'),
    'knows a web page from an agent': async () => same(await kindOf(A2AClient.connect(pages)), 'html'),
    'stops when its signal aborts': async () => {
      const leave = new AbortController();
      setTimeout(() => leave.abort(), 30);
      same(await kindOf(client.send('sleep=60000', { signal: leave.signal }).result()), 'aborted');
    },
    'stops after its total timeout': async () => same(await kindOf(client.send('sleep=60000', { totalMs: 50 }).result()), 'timeout'),
  };
  const outcomes: Outcome[] = [];
  for (const [name, run] of Object.entries(cases)) outcomes.push(await outcomeOf(name, run));
  return outcomes;
}

async function outcomeOf(name: string, run: () => Promise<void>): Promise<Outcome> {
  try {
    await run();
    return { name, ok: true };
  } catch (thrown) {
    return { name, ok: false, why: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown) };
  }
}

function same(is: unknown, wanted: unknown): void {
  if (is !== wanted) throw new Error(`${JSON.stringify(is)} is not ${JSON.stringify(wanted)}`);
}

async function kindOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'no failure';
  } catch (thrown) {
    return isClientError(thrown) || isA2AError(thrown) ? thrown.kind : String(thrown);
  }
}
