import { limitDefaults } from '#engine';

/**
 * The limits of the server, each declared once: the type, the defaults, the settings of `parley serve` and docs/config.md are derived
 * from it. Names end in their unit.
 */
export const SERVER_LIMITS = {
  bodyBytesMax: { default: 1_048_576, doc: 'Maximum body of a request. Larger content goes by reference.' },
  grpcAnswerBytesMax: {
    default: 4_194_304,
    doc: 'Maximum size of one message of an answer over gRPC. Clients refuse larger ones by default.',
  },
  agUiBodyBytesMax: {
    default: 10_485_760,
    doc: 'Maximum body of an AG-UI run. A front end repeats the whole thread in each request; only the newest messages are kept.',
  },
  jsonDepthMax: { default: 64, doc: 'Maximum nesting of arrays and objects.' },
  jsonMembersMax: {
    default: 50_000,
    doc: 'Maximum number of arrays, objects and members of objects in one request. In protobuf: of messages and elements of lists.',
  },
  messagePartsMax: { default: 100, doc: 'Maximum number of parts of one message.' },
  idCharsMax: { default: 128, doc: 'Maximum length of an id.' },
  headersMax: { default: 100, doc: 'Maximum number of headers of a request.' },
  headerMsMax: { default: 5000, doc: 'Timeout from the first byte of a request to the end of its headers.' },
  requestMsMax: { default: 10_000, doc: 'Timeout from the first byte of a request to the end of its body.' },
  orphanContentMsMax: {
    default: 86_400_000,
    doc: 'Large content in a bucket or shared folder (`blobs`) whose task does not exist is deleted when it is older than this.',
  },
  streamIdleMsMax: {
    default: 60_000,
    doc: 'A stream whose reader takes nothing for this long is closed. The reader can resume it.',
  },
  keepAliveMs: { default: 15_000, doc: 'A stream without events sends a keep-alive comment this often.' },
  reconnectMs: { default: 1000, doc: 'The delay that readers of a stream are asked to wait before they reconnect.' },
  connectionsMax: {
    default: 0,
    doc: 'Maximum number of open connections. 0: as many as the process may open files, less a reserve.',
  },
  addressConnectionsMax: {
    default: 0,
    doc: 'Maximum number of open connections of one client address, and of open requests of one address behind a trusted proxy. 0: a quarter of `connectionsMax`. Loopback is never limited.',
  },
  reservedConnections: {
    default: 16,
    doc: 'How many of the last connections are kept for operators: half for admin routes, half for this machine. At most a tenth of `connectionsMax`.',
  },
  unsentConnectionBytesMax: {
    default: 402_653_184,
    doc: 'Maximum size of what one connection has not read yet of its response. Beyond it the connection is closed. 0: no limit.',
  },
  unsentCallerBytesMax: {
    default: 0,
    doc: 'Maximum size of what all connections of one caller have not read yet. Beyond it the slowest is closed. 0: half of `unsentBytesMax`. `local` is never limited.',
  },
  unsentBytesMax: {
    default: 0,
    doc: 'Maximum size of what all connections have not read yet. Beyond it the slowest is closed. 0: a quarter of the heap.',
  },
  streamsMax: { default: 0, doc: 'Maximum number of open streams. 0: nine in ten of the connections.' },
  requestsPerSecondMax: {
    default: 20,
    doc: 'Sustained rate limit of one caller. 0: no limit. `local` is never limited.',
  },
  requestsBurstMax: {
    default: 40,
    doc: 'Maximum burst of requests of one caller, and of failed authentications from one address.',
  },
  publicRequestsPerSecondMax: {
    default: 50,
    doc: 'Sustained rate limit of one client address on public routes (cards, catalog, console). 0: no limit. Loopback is never limited.',
  },
  publicRequestsBurstMax: {
    default: 200,
    doc: 'Maximum burst of requests of one client address on public routes.',
  },
  callerBytesPerMinuteMax: {
    default: 67_108_864,
    doc: 'Maximum size of all request bodies of one caller per minute. 0: no limit.',
  },
  callerStreamsMax: {
    default: 100,
    doc: 'Maximum number of open streams of one caller, and of health watches over gRPC of one address. 0: no limit.',
  },
  callerTasksMax: { default: 50, doc: 'Maximum number of running tasks of one caller. 0: no limit.' },
  drainMsMax: { default: 10_000, doc: 'Maximum duration of a shutdown, from the signal to the exit.' },
  webhookMsMax: { default: 15_000, doc: 'Timeout of one attempt to deliver to a webhook.' },
  cardAgeMsMax: { default: 300_000, doc: 'How long clients may cache a card.' },
} as const;

/** The limits of the server, by name. docs/config.md lists them with their defaults. */
export type ServerLimits = { readonly [Name in keyof typeof SERVER_LIMITS]: number };

/** The defaults of all limits. */
export const DEFAULT_SERVER_LIMITS: ServerLimits = limitDefaults(SERVER_LIMITS);
