import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../support/scratch.ts';
import { parley } from './run.ts';

const SOCIETY =
  '{"jsonrpc":"2.0","id":"t1","method":"tasks/send","params":{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}}';
const V03_TASK = '{"kind":"task","id":"t1","contextId":"c1","status":{"state":"input-required"}}';
const V10_FILE =
  '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi","filename":"a.txt"}]}}}';

function translated(
  args: readonly string[],
  input: string,
): { readonly from: string; readonly kind: string; readonly output: unknown; readonly lost: readonly { readonly field: string }[] } {
  const { code, out, err } = parley(['translate', '--json', ...args], input);
  expect(code, err).toBe(0);
  return JSON.parse(out);
}

describe('parley translate', () => {
  it('rejects empty input', () => {
    const { code, out, err } = parley(['translate', '--to', 'v10'], ' \n');
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('nothing on standard input');
  });

  it('reads a file, and names a file that it can’t read', () => {
    const file = join(scratchFolder(), 'in.json');
    writeFileSync(file, V03_TASK);
    expect(translated(['--to', 'v10', file], '')).toMatchObject({ from: 'v03', output: { task: { id: 't1' } } });
    expect(translated(['--to', 'v10', '-'], V03_TASK)).toMatchObject({ from: 'v03' });
    writeFileSync(file, 'hi');
    expect(parley(['translate', '--to', 'v10', file])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(`${file} is not JSON`),
    });
    expect(parley(['translate', '--to', 'v10', 'none.json'])).toMatchObject({
      code: 2,
      err: expect.stringContaining("can't read none.json"),
    });
    expect(parley(['translate', '--to', 'v10', 'a.json', 'b.json'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('no place for b.json'),
    });
  });

  it('names the dialect that lacks a method, and all kinds if none was given', () => {
    expect(parley(['translate', '--to', 'v10', '--from', 'v01'], '{"method":"message/send"}').err).toContain(
      'A2A 0.1 has no method message/send',
    );
    expect(parley(['translate', '--to', 'v10'], '{}').err).toContain('not a request, response, event or card of any known dialect');
  });

  it('finds the dialect of a request, by its path where that matters', () => {
    expect(translated(['--to', 'v10', '--path', '/'], SOCIETY)).toMatchObject({
      from: 'society',
      kind: 'request',
      output: { method: 'SendMessage' },
    });
    expect(translated(['--to', 'v10', '--path', '/a2a'], SOCIETY)).toMatchObject({ from: 'v01' });
  });

  it('finds the dialect of an answer, an event and a card', () => {
    expect(translated(['--to', 'v10'], V03_TASK)).toMatchObject({ from: 'v03', kind: 'response', output: { task: { id: 't1' } } });
    const frame = '{"type":"TaskStatusUpdateEvent","taskId":"t","status":{"state":"TASK_STATE_COMPLETED"},"final":true}';
    expect(translated(['--to', 'v10'], frame)).toMatchObject({ from: 'cortex', kind: 'event', output: { statusUpdate: { taskId: 't' } } });
    const card = '{"name":"a","description":"d","version":"1","interfaces":[{"url":"http://x/a2a","protocol":"json-rpc","version":"1.0"}]}';
    expect(translated(['--to', 'v03'], card)).toMatchObject({ from: 'cortex', kind: 'card', output: { url: 'http://x/a2a' } });
  });

  it('reports on standard error what the target can’t express', () => {
    const { out, err } = parley(['translate', '--to', 'v03'], V10_FILE);
    expect(JSON.parse(out)).toMatchObject({ method: 'message/send' });
    expect(err).toMatch(/A2A 1\.0 \(v10\) request send -> A2A 0\.3 \(v03\)/);
    expect(err).toMatch(/lost: message\.parts\[0\]\.filename \(Part\.filename\): .+ \[.+\]/);
    expect(translated(['--to', 'v03'], V10_FILE).lost.map((loss) => loss.field)).toEqual(['Part.filename']);
  });

  it('finds the dialect of an error by its other members, and lists what is lost', () => {
    const error = (body: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, error: body });
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' };
    const official = error({ code: -32001, message: 'Task not found', data: [info] });
    expect(translated(['--to', 'v03'], official)).toMatchObject({ from: 'v10', lost: [] });
    const free = error({ code: -32603, message: 'Internal error', data: { details: 'why', depth: 2 } });
    const told = translated(['--to', 'v10'], free);
    expect(told.from).toBe('v01'); // 0.3 is written without `data`
    expect(told.output).toMatchObject({ error: { data: [{ metadata: { details: 'why' } }] } });
    expect(told.lost.map((loss) => loss.field)).toEqual(['Error.data.depth']);
    expect(translated(['--to', 'society'], free).lost.map((loss) => loss.field)).toEqual(['Error.data.details', 'Error.data.depth']);
    const refused = error({ code: -32007, message: 'Authentication required' });
    expect(translated(['--from', 'v01', '--to', 'sam'], refused)).toMatchObject({
      output: { error: { code: -32600 } },
      lost: [{ field: 'Error.code' }],
    });
  });

  it('reads recorded event streams and writes one frame per line', () => {
    const stream =
      ': hello\nid: 1\ndata: {"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}\n\ndata: [DONE]\n\n';
    const { out } = parley(['translate', '--to', 'promptkit'], stream);
    expect(out).toBe('{"taskId":"t","contextId":"c","status":{"state":"working"}}\n');
  });

  it('keeps the state of a stream over all of its frames', () => {
    const chunk = (id: string, more = '') =>
      `data: {"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"${id}","parts":[{"kind":"text","text":"x"}]}${more}}\n\n`;
    const end = 'data: {"kind":"status-update","taskId":"t",\ndata: "contextId":"c","status":{"state":"completed"},"final":true}\n\n';
    const stream = chunk('a') + chunk('b') + chunk('a', ',"append":true') + end;
    const frames = parley(['translate', '--to', 'v01'], stream)
      .out.trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(frames.map((frame) => frame.artifact?.index)).toEqual([0, 1, 0, undefined]);
    expect(parley(['translate', '--to', 'cortex'], stream).out).toMatch(/\[DONE\]\n$/);
  });

  it('reports what the target requires', () => {
    const { code, err } = parley(
      ['translate', '--to', 'v10'],
      '{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/get","params":{"id":"t1"}}',
    );
    expect([code, err]).toEqual([1, 'Error: as A2A 1.0: params.id is required\nCode: A2ACLI_ERR_INTERNAL\n']);
  });

  it('prints every dialect for --to all, and skips those that lack the operation', () => {
    const { code, err } = parley(['translate', '--to', 'all'], '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}');
    expect(code).toBe(0);
    expect(err).toContain('society: Society has no get');
    expect(err).toContain('-> CortexPrism (cortex)');
  });

  it('uses --from and --kind', () => {
    expect(translated(['--from', 'v02', '--to', 'v10'], V03_TASK)).toMatchObject({ from: 'v02' });
    expect(translated(['--kind', 'event', '--to', 'v10'], V03_TASK)).toMatchObject({ kind: 'event', output: { task: {} } });
  });

  it.each([
    ['not JSON', ['--to', 'v10'], 'nope', 1, /not JSON \(document 1/],
    ['nobody’s document', ['--to', 'v10'], '{}', 1, /--kind/],
    ['an empty list', ['--to', 'v10'], '[]', 1, /--kind/],
    [
      'another dialect’s method',
      ['--from', 'society', '--to', 'v10'],
      '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}',
      1,
      /Society has no method GetTask/,
    ],
    ['an unknown method', ['--to', 'v10'], '{"jsonrpc":"2.0","id":1,"method":"tasks/fly"}', 1, /tasks\/fly[\s\S]*--from/],
    [
      'a field that is missing',
      ['--to', 'v10'],
      V10_FILE.replace('"messageId":"m1",', ''),
      1,
      /as A2A 1\.0: params\.message\.messageId is required/,
    ],
    [
      'an operation that the target lacks',
      ['--to', 'society'],
      '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}',
      1,
      /Society has no get/,
    ],
    ['no target', [], V03_TASK, 2, /--to is missing/],
    ['an unknown target', ['--to', 'v99'], V03_TASK, 2, /no dialect v99[\s\S]*v10/],
    ['an unknown kind', ['--to', 'v10', '--kind', 'letter'], V03_TASK, 2, /letter is not one of/],
    ['an unknown operation', ['--to', 'v10', '--operation', 'fly'], V03_TASK, 2, /fly is not one of/],
    ['an unknown flag', ['--to', 'v10', '--fast'], V03_TASK, 2, /parley help translate/],
  ] as const)('refuses %s', (_, args, input, code, said) => {
    const result = parley(['translate', ...args], input);
    expect([result.code, result.out]).toEqual([code, '']);
    expect(result.err).toMatch(said);
  });
});
