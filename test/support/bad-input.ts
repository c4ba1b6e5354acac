import { rpc, v10Message } from './posts.ts';

/** docs/faults.md, "Hostile input", as data: what is refused, and how. Used with the bindings alone and with a server over its socket. */
const utf8 = new TextEncoder();
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const send = (params: unknown, more: object = {}): string => JSON.stringify({ ...rpc('SendMessage', params), ...more });
const withMessage = (members: object): string => send({ message: { ...(v10Message('x')['message'] as object), ...members } });
const list = (params: object): string => JSON.stringify(rpc('ListTasks', params));

export const RPC_CASES: Readonly<Record<string, readonly (readonly [name: string, body: string | Uint8Array, code: number])[]>> = {
  'I1 malformed': [
    ['nothing', '', -32700],
    ['half a request', send(v10Message('x')).slice(0, 40), -32700],
    ['two requests in a row', send(v10Message('x')).repeat(2), -32700],
    ['a string', '"SendMessage"', -32600],
    ['null', 'null', -32600],
    ['a number', '1', -32600],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{}}', -32600],
    ['params that are a list', send([v10Message('x')]), -32602],
    ['params that are text', send('x'), -32602],
    ['no params', JSON.stringify(rpc('SendMessage')), -32602],
    ['params without a message', send({}), -32602],
    ['a message that is text', send({ message: 'hi' }), -32602],
    ['no parts', withMessage({ parts: [] }), -32602],
    ['parts that are an object', withMessage({ parts: {} }), -32602],
    ['a part of nothing', withMessage({ parts: [{}] }), -32602],
    ['a part of two things', withMessage({ parts: [{ text: 'a', url: 'https://x.example' }] }), -32602],
    ['a role nobody has', withMessage({ role: 'ROLE_ROOT' }), -32602],
    ['an id that is a number', withMessage({ messageId: 7 }), -32602],
    ['an id of 129 characters', withMessage({ messageId: 'x'.repeat(129) }), -32602],
    ['101 parts', withMessage({ parts: Array.from({ length: 101 }, () => ({ text: 'x' })) }), -32602],
    ['a task that is not there', withMessage({ taskId: 'nobody' }), -32001],
  ],
  'I2 deep, large, odd numbers': [
    ['65 levels of nothing', nested(65), -32700],
    ['half a million levels', nested(500_000), -32700],
    ['half a million levels that never close', '['.repeat(500_000), -32700],
    ['metadata of 70 levels', send({ ...v10Message('x'), metadata: { a: JSON.parse(nested(70)) } }), -32700],
    ['more than a megabyte', send(v10Message('x'.repeat(1_048_576))), -32600],
    ['a megabyte of digits as an id', `{"jsonrpc":"2.0","id":${'9'.repeat(900_000)},"method":"GetTask","params":{"id":"x"}}`, -32600],
    [
      'a number out of range',
      `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":1e999}]}}}`,
      -32602,
    ],
    ['a megabyte of keys', `{${Array.from({ length: 90_000 }, (_, at) => `"k${at}":0`).join(',')}}`, -32600],
    ['a huge list as parts', withMessage({ parts: Array.from({ length: 200_000 }, () => 0) }), -32602],
    ['a megabyte of padding as bytes', withMessage({ parts: [{ raw: `${'='.repeat(1_000_000)}x` }] }), -32602],
    ['historyLength -1', JSON.stringify(rpc('GetTask', { id: 'task-1', historyLength: -1 })), -32602],
  ],
  'I3 names that objects have already': [
    [
      '__proto__ in metadata',
      '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"metadata":{"__proto__":{"polluted":1}},"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}',
      -32602,
    ],
    ['__proto__ as the envelope’s method', '{"jsonrpc":"2.0","id":1,"__proto__":{"method":"SendMessage"}}', -32600],
    ['method constructor', JSON.stringify(rpc('constructor', {})), -32601],
    ['method toString', JSON.stringify(rpc('toString', {})), -32601],
    ['method __proto__', JSON.stringify(rpc('__proto__', {})), -32601],
    ['state constructor', list({ status: 'constructor' }), -32602],
    ['a part of constructor', withMessage({ parts: [{ constructor: 'x' }] }), -32602],
  ],
  'I4 envelopes': [
    ['an empty batch', '[]', -32600],
    ['a batch of one', `[${send(v10Message('x'))}]`, -32600],
    ['a batch of 5,000', `[${Array.from({ length: 5000 }, () => send(v10Message('x'))).join(',')}]`, -32600],
    ['a batch in a batch', `[[${send(v10Message('x'))}]]`, -32600],
    ['a notification', send(v10Message('x'), { id: undefined }), -32600],
    ['an id that is an object', send(v10Message('x'), { id: {} }), -32600],
    ['an id that is true', send(v10Message('x'), { id: true }), -32600],
    ['no version', send(v10Message('x'), { jsonrpc: undefined }), -32600],
    ['version 1.0', send(v10Message('x'), { jsonrpc: '1.0' }), -32600],
    ['version as a number', send(v10Message('x'), { jsonrpc: 2 }), -32600],
    ['no method', send(v10Message('x'), { method: undefined }), -32600],
    ['an empty method', send(v10Message('x'), { method: '' }), -32600],
    ['a method that is a list', send(v10Message('x'), { method: ['SendMessage'] }), -32600],
    ['a method nobody has', send(v10Message('x'), { method: 'SendMessageXXX' }), -32601],
    ['a method with a space', send(v10Message('x'), { method: 'SendMessage ' }), -32601],
    ['a method of a megabyte', send(v10Message('x'), { method: `S${'x'.repeat(900_000)}` }), -32601],
  ],
  'I5 bytes': [
    ['invalid UTF-8', Uint8Array.of(...utf8.encode(send(v10Message('x')).slice(0, 30)), 0xff, 0xfe), -32700],
    ['a BOM', utf8.encode(`\ufeff${send(v10Message('x'))}`), -32700],
    ['UTF-16', new Uint8Array(Uint16Array.from(send(v10Message('x')), (character) => character.charCodeAt(0)).buffer), -32700],
    ['NUL bytes', new Uint8Array(100), -32700],
  ],
  'I7 pages': [
    ['pageSize 0', list({ pageSize: 0 }), -32602],
    ['pageSize -1', list({ pageSize: -1 }), -32602],
    ['pageSize 101', list({ pageSize: 101 }), -32602],
    ['pageSize 1e9', list({ pageSize: 1e9 }), -32602],
    ['pageSize 1.5', list({ pageSize: 1.5 }), -32602],
    ['a token of somebody else', list({ pageToken: 'abc' }), -32602],
    ['a date that is none', list({ statusTimestampAfter: 'yesterday' }), -32602],
    ['a state that is none', list({ status: 'TASK_STATE_ASLEEP' }), -32602],
  ],
};

type Making = (base: string) => Request;

const post = (path: string, body: string | Uint8Array, type = 'application/json'): Making => {
  const bytes = typeof body === 'string' ? utf8.encode(body) : new Uint8Array(body);
  return (base) => new Request(`${base}${path}`, { method: 'POST', headers: { 'Content-Type': type }, body: bytes });
};
const fetching =
  (path: string, method = 'GET'): Making =>
  (base) =>
    new Request(`${base}${path}`, { method });
const message = JSON.stringify(v10Message('x'));

export const REST_CASES: readonly (readonly [name: string, request: Making, status: number])[] = [
  ['no such path', fetching('/nothing/here/at/all'), 404],
  ['a path that is not well-formed', fetching('/tasks/%zz'), 400],
  ['a path of slashes', fetching(`${'/'.repeat(12_000)}x`), 404],
  ['a path with a NUL', fetching('/tasks/%00'), 404],
  ['another verb', fetching('/message:send'), 405],
  ['DELETE of a task', fetching('/tasks/task-1', 'DELETE'), 405],
  ['a body that is no JSON', post('/message:send', '{'), 400],
  ['a body that is a list', post('/message:send', `[${message}]`), 400],
  ['a body that is text', post('/message:send', '"x"'), 400],
  ['no body where one is needed', post('/message:send', ''), 400],
  ['null where a body is needed', post('/message:send', 'null'), 400],
  ['too large a body', post('/message:send', `"${'x'.repeat(1_048_576)}"`), 413],
  ['too deep a body', post('/message:send', nested(65)), 400],
  ['invalid UTF-8', post('/message:send', Uint8Array.of(0x22, 0xff, 0x22)), 400],
  ['a BOM', post('/message:send', `\ufeff${message}`), 400],
  ['text/plain', post('/message:send', message, 'text/plain'), 415],
  ['a form', post('/message:send', message, 'application/x-www-form-urlencoded'), 415],
  ['JSON of another charset', post('/message:send', message, 'application/json; charset=utf-16'), 415],
  ['historyLength -1', fetching('/tasks/task-1?historyLength=-1'), 400],
  ['historyLength x', fetching('/tasks/task-1?historyLength=x'), 400],
  ['historyLength twice', fetching('/tasks/task-1?historyLength=1&historyLength=2'), 400],
  ['pageSize 0', fetching('/tasks?pageSize=0'), 400],
  ['pageSize 1e9', fetching('/tasks?pageSize=1e9'), 400],
  ['includeArtifacts maybe', fetching('/tasks?includeArtifacts=maybe'), 400],
  ['a state that is none', fetching('/tasks?status=constructor'), 400],
  ['__proto__ in the query', fetching('/tasks?__proto__=x&status=__proto__'), 400],
  ['a task that is not there', fetching('/tasks/nobody'), 404],
  ['an id of 129 characters', fetching(`/tasks/${'x'.repeat(129)}`), 400],
];
