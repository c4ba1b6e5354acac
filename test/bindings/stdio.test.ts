import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { builtInAgents } from '#agents';
import type { Channel } from '#bindings';
import { serveStdio, stdioLink } from '#bindings';
import type { Dialect, TaskEvent } from '#protocol';
import { createUserMessage, DIALECTS } from '#protocol';
import { handlerOf } from '../support/server.ts';
import { callContext, taskIn, textOf } from '../support/talk.ts';

const dialect = (id: string): Dialect => {
  const found = DIALECTS.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no dialect ${id}`);
  return found;
};

/** Two ends of a pipe without a process. Bytes arrive in chunks of three, so no line arrives in one piece. */
function pipe(): readonly [Channel & { close(): void }, Channel & { close(): void }] {
  const make = (): { readonly stream: ReadableStream<Uint8Array>; write(text: string): void; close(): void } => {
    let control: ReadableStreamDefaultController<Uint8Array> | undefined;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        control = controller;
      },
    });
    const write = (text: string): void => {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length; at += 3) control?.enqueue(bytes.slice(at, at + 3));
    };
    return { stream, write, close: () => control?.close() };
  };
  const [there, back] = [make(), make()];
  const end = (input: typeof there, output: typeof there) => ({
    input: input.stream,
    write: async (text: string) => output.write(text),
    close: output.close,
  });
  return [end(back, there), end(there, back)];
}

const PARLEY = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

async function gathered(events: AsyncIterable<readonly { readonly event: TaskEvent }[]>): Promise<readonly TaskEvent[]> {
  const all: TaskEvent[] = [];
  for await (const batch of events) all.push(...batch.map(({ event }) => event));
  return all;
}

describe.each(['v10', 'v03', 'v02', 'v01', 'society'])('A2A on a pipe, in %s', (id) => {
  it('sends and reads back', async () => {
    const handler = handlerOf();
    const [ours, theirs] = pipe();
    const serving = serveStdio(theirs, handler.fetch);
    const { service } = stdioLink(ours, dialect(id));
    const task = taskIn(await service.send({ message: createUserMessage('chunks=2') }, callContext()));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(task)).toContain('chunk 2');
    ours.close();
    await serving;
    await handler.close();
  });
});

describe('A2A on a pipe', () => {
  it('refuses a call that does not name an extension which the card requires', async () => {
    const agent = builtInAgents.get('conformance')?.create({ profile: 'required-extension' });
    const handler = handlerOf(agent === undefined ? {} : { agents: [agent] });
    const [ours, theirs] = pipe();
    const serving = serveStdio(theirs, handler.fetch);
    const { service } = stdioLink(ours, dialect('v10'));
    const send = (extensions: readonly string[]) => service.send({ message: createUserMessage('hi') }, { ...callContext(), extensions });
    await expect(send([])).rejects.toMatchObject({ kind: 'EXTENSION_SUPPORT_REQUIRED' });
    await expect(send(['urn:a2a:tck:required-extension'])).resolves.toBeDefined();
    ours.close();
    await serving;
    await handler.close();
  });

  it('carries many streams at once, each to its own reader', async () => {
    const handler = handlerOf();
    const [ours, theirs] = pipe();
    const serving = serveStdio(theirs, handler.fetch);
    const { service } = stdioLink(ours, dialect('v10'));
    const all = await Promise.all(
      [1, 2, 3].map((count) => gathered(service.stream({ message: createUserMessage(`chunks=${count} delay=5`) }, callContext()))),
    );
    expect(all.map((events) => events.filter(({ artifactUpdate }) => artifactUpdate !== undefined).length)).toEqual([1, 2, 3]);
    ours.close();
    await serving;
    await handler.close();
  });

  it('closes a stream when its reader stops, and the task continues', async () => {
    const handler = handlerOf();
    const [ours, theirs] = pipe();
    const serving = serveStdio(theirs, handler.fetch);
    const { service } = stdioLink(ours, dialect('v10'));
    const leaving = new AbortController();
    const stream = service.stream({ message: createUserMessage('chunks=20 delay=20') }, { ...callContext(), signal: leaving.signal });
    const iterator = stream[Symbol.asyncIterator]();
    const first = await iterator.next();
    const id = first.value?.[0]?.event.task?.id;
    leaving.abort();
    await expect(iterator.next()).rejects.toThrow();
    const rest = await gathered(service.subscribe({ id: id as never }, callContext()));
    expect(rest.at(-1)?.statusUpdate?.status.state).toBe('TASK_STATE_COMPLETED');
    ours.close();
    await serving;
    await handler.close();
  });

  it('answers each malformed line with an error', async () => {
    const handler = handlerOf();
    const [ours, theirs] = pipe();
    const serving = serveStdio(theirs, handler.fetch, { lineBytesMax: 1000 });
    const lines: string[] = [];
    const reading = (async () => {
      let text = '';
      for await (const chunk of ours.input) text += new TextDecoder().decode(chunk);
      lines.push(...text.split('\n').filter((line) => line !== ''));
    })();
    for (const line of ['nonsense', '[]', '{"jsonrpc":"2.0","id":7,"method":"NoSuch"}', 'x'.repeat(5000), ''])
      await ours.write(`${line}\n`);
    ours.close();
    await serving;
    theirs.close();
    await reading;
    await handler.close();
    const codes = lines.map((line) => (JSON.parse(line) as { error: { code: number }; id: unknown }).error.code);
    expect(codes.toSorted()).toEqual([-32_600, -32_600, -32_601, -32_700].toSorted());
  });

  it('fails pending calls when the other side is gone', async () => {
    const [ours, theirs] = pipe();
    const { service } = stdioLink(ours, dialect('v10'));
    const sent = service.send({ message: createUserMessage('x') }, callContext());
    setTimeout(() => theirs.close(), 20);
    await expect(sent).rejects.toThrow('the agent has closed the pipe');
  });

  it('is spoken by parley serve --stdio, which ends when its input does', async () => {
    const child = spawn(
      process.execPath,
      ['--conditions=our-src', '--disable-warning=ExperimentalWarning', PARLEY, 'serve', 'echo', '--stdio', '--memory'],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    const link = stdioLink({ input: child.stdout, write: async (text) => void child.stdin.write(text) }, dialect('v10'));
    expect(await link.card()).toMatchObject({ name: 'echo' });
    const task = taskIn(await link.service.send({ message: createUserMessage('hello') }, callContext()));
    expect(textOf(task)).toBe('hello');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    expect(await ended).toBe(0);
    await link.closed;
  });
});
