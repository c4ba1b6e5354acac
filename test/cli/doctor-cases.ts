import { always, badCalls, expiredTls, html, json } from '../support/broken-servers.ts';
import type { Listening } from '../support/listen.ts';
import {
  BEARER,
  cardOf,
  frames,
  grpcAtHttp1,
  iface,
  nobody,
  onlyOld,
  refuses,
  SAY,
  sane,
  selfSigned,
  TASK,
  WORKING,
  withoutTls,
} from './doctor-servers.ts';

/** A server with one fault, and the doctor's diagnosis. */
export interface Patient {
  readonly name: string;
  /** The id of the first error. */
  readonly diagnosis: string;
  readonly exit: number;
  /** Words of the printed advice. */
  readonly advice: RegExp;
  open(): Promise<Listening>;
  readonly args?: readonly string[];
}

export const PATIENTS: readonly Patient[] = [
  {
    name: 'a port that nobody calls on',
    diagnosis: 'bad-port',
    exit: 3,
    advice: /serve on another/,
    open: async () => ({ url: 'http://127.0.0.1:1', close: async () => undefined }),
  },
  { name: 'nobody listens', diagnosis: 'refused', exit: 3, advice: /start the agent/, open: nobody },
  {
    name: 'an unknown host',
    diagnosis: 'dns',
    exit: 3,
    advice: /spelling/,
    open: async () => ({ url: 'http://no-such-host.invalid', close: async () => undefined }),
  },
  { name: 'an expired certificate', diagnosis: 'tls-expired', exit: 3, advice: /renew/, open: expiredTls },
  { name: 'a certificate of nobody’s', diagnosis: 'tls-self-signed', exit: 3, advice: /--ca/, open: selfSigned },
  { name: 'https where there is http', diagnosis: 'tls-not-spoken', exit: 3, advice: /http:\/\//, open: withoutTls },
  { name: 'silence', diagnosis: 'silent', exit: 5, advice: /hangs/, open: () => always(() => undefined), args: ['--timeout', '1s'] },
  {
    name: 'a server without an agent',
    diagnosis: 'no-agent',
    exit: 3,
    advice: /check the address/,
    open: () => always((_, outgoing) => json(outgoing, 404, {})),
  },
  { name: 'a web page', diagnosis: 'card-html', exit: 1, advice: /for people/, open: () => always((_, outgoing) => html(outgoing)) },
  {
    name: 'a card that is no JSON',
    diagnosis: 'card-not-json',
    exit: 1,
    advice: /as JSON/,
    open: () => always((_, outgoing) => void outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end('{"name":')),
  },
  {
    name: 'JSON that is no card',
    diagnosis: 'not-a-card',
    exit: 1,
    advice: /supportedInterfaces/,
    open: () => always((_, outgoing) => json(outgoing, 200, { hello: 'world' })),
  },
  { name: 'a malformed card', diagnosis: 'card-malformed', exit: 1, advice: /--validate/, open: cardOf({ skills: 'none' }) },
  { name: 'a card only for friends', diagnosis: 'card-private', exit: 4, advice: /public card/, open: () => always(refuses) },
  {
    name: 'a card that moved',
    diagnosis: 'card-redirect',
    exit: 1,
    advice: /redirect/,
    open: () => always((_, outgoing) => void outgoing.writeHead(302, { Location: 'https://elsewhere.example/' }).end()),
  },
  {
    name: 'a card whose server fails',
    diagnosis: 'card-server-error',
    exit: 1,
    advice: /log/,
    open: () => always((_, outgoing) => json(outgoing, 500, {})),
  },
  {
    name: 'a lying Content-Length',
    diagnosis: 'card-cut-off',
    exit: 1,
    advice: /Content-Length/,
    open: () =>
      always((_, outgoing) => {
        outgoing.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '5000' }).write('{"name":');
        setTimeout(() => outgoing.destroy(), 50);
      }),
  },
  {
    name: 'a card of a megabyte and more',
    diagnosis: 'card-too-large',
    exit: 1,
    advice: /really sends/,
    open: cardOf({ description: 'x'.repeat(1_100_000) }),
  },
  {
    name: 'too many requests',
    diagnosis: 'rate-limited',
    exit: 1,
    advice: /wait/,
    open: () => always((_, outgoing) => json(outgoing, 429, {})),
  },
  {
    name: 'a card without interfaces',
    diagnosis: 'no-interfaces',
    exit: 1,
    advice: /supportedInterfaces/,
    open: cardOf({ supportedInterfaces: [], url: undefined }),
  },
  { name: 'nothing but SOAP', diagnosis: 'no-binding', exit: 1, advice: /JSONRPC/, open: cardOf(iface('https://agent.example', 'SOAP')) },
  {
    name: 'an address that is none',
    diagnosis: 'interface-nowhere',
    exit: 1,
    advice: /clients reach/,
    open: cardOf(iface('http://0.0.0.0:8080/a2a')),
  },
  {
    name: 'a scheme that nobody describes',
    diagnosis: 'scheme-undefined',
    exit: 1,
    advice: /securitySchemes/,
    open: cardOf({ securityRequirements: [{ schemes: { key: {} } }] }),
  },
  {
    name: 'an interface where nobody listens',
    diagnosis: 'interface-refused',
    exit: 1,
    advice: /port/,
    open: async () => cardOf(iface(`${(await nobody()).url}/a2a`))(),
  },
  {
    name: 'a path that is not served',
    diagnosis: 'interface-not-found',
    exit: 1,
    advice: /path/,
    open: () => badCalls((_, outgoing) => json(outgoing, 404, {})),
  },
  {
    name: 'gRPC at a port of HTTP/1.1',
    diagnosis: 'interface-no-http2',
    exit: 1,
    advice: /port of gRPC in the card/,
    open: grpcAtHttp1,
  },
  {
    name: 'a page where calls go',
    diagnosis: 'interface-html',
    exit: 1,
    advice: /for people/,
    open: () => badCalls((_, outgoing) => html(outgoing)),
  },
  {
    name: 'calls that are sent elsewhere',
    diagnosis: 'interface-redirect',
    exit: 1,
    advice: /final address/,
    open: () => badCalls((_, outgoing) => void outgoing.writeHead(307, { Location: '/other' }).end()),
  },
  {
    name: 'calls that fail',
    diagnosis: 'interface-server-error',
    exit: 1,
    advice: /log/,
    open: () => badCalls((_, outgoing) => json(outgoing, 500, {})),
  },
  {
    name: 'calls that nobody answers',
    diagnosis: 'interface-silent',
    exit: 5,
    advice: /hangs/,
    open: () => badCalls(() => undefined),
    args: ['--timeout', '1s'],
  },
  {
    name: 'credentials that the card asks for',
    diagnosis: 'credentials-needed',
    exit: 4,
    advice: /A2ACLI_BEARER/,
    open: () => badCalls(refuses, BEARER),
  },
  {
    name: 'credentials that are wrong',
    diagnosis: 'credentials-refused',
    exit: 4,
    advice: /auth login/,
    open: () => badCalls(refuses, BEARER),
    args: ['--bearer', 'wrong-token'],
  },
  {
    name: 'credentials that the card does not mention',
    diagnosis: 'auth-undeclared',
    exit: 4,
    advice: /securityRequirements/,
    open: () => badCalls(refuses),
  },
  { name: 'credentials that nobody checks', diagnosis: 'auth-not-enforced', exit: 1, advice: /check them/, open: cardOf(BEARER) },
  {
    name: 'a card of 1.0 before a server of 0.3',
    diagnosis: 'other-dialect',
    exit: 1,
    advice: /protocolVersion/,
    open: () => badCalls(onlyOld),
  },
  {
    name: 'a version that nobody published',
    diagnosis: 'version-unknown',
    exit: 1,
    advice: /"1\.0"/,
    open: () => badCalls(onlyOld, iface('http://127.0.0.1:9/a2a', 'JSONRPC', '7.5')),
  },
  {
    name: 'answers that are no A2A',
    diagnosis: 'interface-garbage',
    exit: 1,
    advice: /--debug/,
    open: () => badCalls((_, outgoing) => json(outgoing, 200, { hello: 'world' })),
  },
  {
    name: 'no card, but an agent',
    diagnosis: 'no-card',
    exit: 1,
    advice: /agent-card\.json/,
    open: () => always((incoming, outgoing) => (incoming.method === 'GET' ? json(outgoing, 404, {}) : onlyOld(incoming, outgoing))),
  },
  {
    name: 'a stream that stops',
    diagnosis: 'stream-cut',
    exit: 1,
    advice: /idle limit/,
    open: () => badCalls(sane(frames(WORKING))),
    args: SAY,
  },
  {
    name: 'a stream of garbage',
    diagnosis: 'stream-garbage',
    exit: 1,
    advice: /--debug/,
    open: () => badCalls(sane(frames(WORKING, '{"no":'))),
    args: SAY,
  },
  {
    name: 'a document instead of a stream',
    diagnosis: 'stream-not-sse',
    exit: 1,
    advice: /event-stream/,
    open: () => badCalls(sane((_, outgoing) => json(outgoing, 200, { jsonrpc: '2.0', id: null, result: { task: TASK } }))),
    args: SAY,
  },
  {
    name: 'a stream that is refused',
    diagnosis: 'stream-refused',
    exit: 1,
    advice: /streaming: false/,
    open: () => badCalls(sane((_, outgoing) => json(outgoing, 200, { jsonrpc: '2.0', id: null, error: { code: -32004, message: 'no' } }))),
    args: SAY,
  },
];
