/** How clients reach the node, and the console. */
export const NETWORK_SETTINGS = {
  url: {
    type: 'url',
    flag: 'url',
    placeholder: 'URL',
    doc: 'The public URL of the node, as its cards state it. Default: the address that each caller used.',
  },
  socket: {
    type: 'text',
    flag: 'socket',
    placeholder: 'PATH',
    doc: 'A Unix socket to listen on in place of host and port. Only its owner may open it.',
  },
  console: {
    type: 'boolean',
    default: true,
    flag: 'no-console',
    flagMeans: false,
    flagDoc: 'Do not serve the web console.',
    doc: 'Whether the web console is served at `/console/`. The admin API is served either way.',
  },
  traceUrl: {
    type: 'text',
    flag: 'trace-url',
    placeholder: 'URL',
    doc: 'Where the console links to the trace of a task, with `{traceId}` in it: `http://localhost:16686/trace/{traceId}`. Tasks then keep the id of their trace.',
  },
  docs: {
    type: 'boolean',
    default: true,
    flag: 'no-docs',
    flagMeans: false,
    flagDoc: 'Do not serve the documentation.',
    doc: 'Whether the documentation is served at `/docs/`.',
  },
  grpc: {
    type: 'boolean',
    default: true,
    flag: 'no-grpc',
    flagMeans: false,
    flagDoc: 'Do not serve HTTP/2, gRPC, gRPC-Web and Connect.',
    doc: 'Whether HTTP/2 is served on the same port, with gRPC, gRPC-Web and Connect. Cards then name the interface `GRPC`.',
  },
  lameDuckMs: {
    type: 'number',
    max: 600_000,
    default: 2000,
    flag: 'lame-duck-ms',
    placeholder: 'MS',
    reload: 'live',
    doc: 'How long the node still serves after SIGTERM while `/readyz` says `draining`, so that load balancers stop sending requests before it refuses them. 0: not at all.',
  },
  insecureBehindProxy: {
    type: 'boolean',
    flag: 'insecure-behind-proxy',
    doc: 'Serve other machines without TLS. A proxy in front must provide TLS and be the only way to the node.',
  },
  trustedProxies: {
    type: 'list',
    flag: 'trust-proxy',
    placeholder: 'ADDRESS',
    doc: 'Addresses or networks of proxies whose `X-Forwarded-For` header is trusted, as `10.0.0.0/8`.',
  },
  allowedHosts: {
    type: 'list',
    flag: 'allow-host',
    placeholder: 'NAME',
    doc: 'Accepted Host names, besides loopback and the host of `url`. `*` accepts all.',
  },
  allowedOrigins: {
    type: 'list',
    flag: 'allow-origin',
    placeholder: 'ORIGIN',
    doc: 'Origins of web pages that may call, as `https://app.example.org`.',
  },
} as const;

/** Where outbound requests may go: webhooks, and addresses that agent cards name. */
export const WEBHOOK_SETTINGS = {
  allowedTargets: {
    type: 'list',
    flag: 'allow-target',
    placeholder: 'TARGET',
    doc: 'Names, addresses and networks (`10.1.0.0/16`) that webhooks and agent cards may name although they are private, also without TLS.',
  },
  allowLoopbackTargets: {
    type: 'boolean',
    flag: 'allow-loopback-targets',
    doc: 'For development: let webhooks and agent cards name addresses on this machine.',
  },
} as const;

/** What cards say, and how requests are read. */
export const PROTOCOL_SETTINGS = {
  card: {
    type: 'choice',
    oneOf: ['superset', 'strict', 'scope-lists'],
    default: 'superset',
    flag: 'card',
    doc: '`superset`: for clients of every version; `strict`: A2A 1.0 only, for a2a-java 1.0.0.Alpha3; `scope-lists`: for a2a-go 2. A client can ask for one with `?card=`.',
  },
  profile: {
    type: 'choice',
    oneOf: ['full', 'basic', 'tck', 'tck-0.3', 'extended-card', 'required-extension'],
    default: 'full',
    flag: 'profile',
    doc: 'What the `conformance` agent declares and does, for different kits (docs/agents.md).',
  },
  publisher: {
    type: 'domain',
    default: 'agent.localhost',
    flag: 'publisher',
    placeholder: 'DOMAIN',
    doc: 'The domain that publishes the agents in `ai-catalog.json`.',
  },
  idempotency: {
    type: 'choice',
    oneOf: ['key', 'messageId'],
    default: 'key',
    flag: 'idempotency',
    doc: '`key`: a repeated message is recognised by its Idempotency-Key, or if the first response was not delivered. `messageId`: always by its id.',
  },
  agUiOnHangUp: {
    type: 'choice',
    oneOf: ['continue', 'cancel'],
    default: 'continue',
    flag: 'ag-ui-on-hang-up',
    doc: 'What happens to a task when its AG-UI front end closes the connection. `continue`: it continues, and the thread shows its answer later. `cancel`: it is canceled.',
  },
  versionRequired: {
    type: 'boolean',
    flag: 'version-required',
    doc: 'Reject 1.0 calls without the header `A2A-Version: 1.0`.',
  },
} as const;
