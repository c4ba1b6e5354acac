/**
 * Which test files each command runs (CONTRIBUTING.md, "Tests").
 *
 * `npm run test:unit` runs src/. `npm test` runs src/ and test/ without the groups below. `npm run test:all` runs these groups as well.
 */
export type Tier = 'unit' | 'default' | 'rest';

export function isTier(text: string | undefined): text is Tier {
  return text === 'unit' || text === 'default' || text === 'rest';
}

interface TestGroup {
  readonly what: string;
  readonly files: readonly string[];
}

/** What `npm test` leaves out, because it takes long or needs programs that not every machine has. */
export const ONLY_IN_ALL: readonly TestGroup[] = [
  { what: 'the console and browser security, in Chromium', files: ['test/e2e/**/*.test.ts', 'test/security/browser-matrix.test.ts'] },
  {
    what: 'the packed package, the client in Node 22 and 26, Bun, Deno and workerd, and the server in Bun and Deno',
    files: ['test/package/{first-day,missing-packages,tarball}.test.ts', 'test/runtimes/**'],
  },
  { what: 'gRPC behind a real nginx, over TLS, and beside every other dialect', files: ['test/grpc/{nginx,tls,cross-binding}.test.ts'] },
  {
    what: 'nodes on real brokers (Mosquitto, NATS)',
    files: [
      'test/contracts/broker.test.ts',
      'test/faults/b*.test.ts',
      'test/mesh/{artifact-places,calls,delegation,discovery,example,gateway,killed,sam,users,watch,monitor,turns-on-a-database}.test.ts',
      'test/mesh/{mqtt01,sam}-*.test.ts',
    ],
  },
  {
    what: 'processes that are killed, starved or restarted many times',
    files: [
      'test/faults/{audit-log,c-processes,e01-kill,e02-failpoints,e04-server,e06-server,e09-loop,e11-clock,e14-poison,e15-large,e16,e16-restart}.test.ts',
      'test/faults/{h1-h2-network,h5,h6,h7,h14,h15,h16-unread,llm-approval,operate,operate-load,w8-kill}.test.ts',
      'test/faults/store-{e1,e5,e6,e7,e9,e10}.test.ts',
      'test/workflows/kill.test.ts',
      'test/client/restart.test.ts',
    ],
  },
  { what: 'the store on a real Postgres', files: ['test/contracts/postgres.test.ts', 'test/faults/{postgres,r?}-*.test.ts'] },
  { what: 'a thousand seeds of simulated replicas', files: ['test/simulator/simulator.test.ts'] },
  {
    what: 'large inputs and searches',
    files: [
      'test/faults/{fuzz,i1-malformed,mutations}.test.ts',
      'test/properties.test.ts',
      'test/security/{limits,push-deliveries}.test.ts',
    ],
  },
  {
    what: 'the command line with every flag, and every setting',
    files: [
      'test/cli/{agents,ask,backup,scheduled-backup,bad-input,closed-output,data-folder,dev,dialects,doctor,erase,init,large-answers,leaving,local-token,long-answers,mistakes,naming-agents,reload,search,serve,skills-and-causes,translate,uncaught-errors}.test.ts',
      'test/cli/contract/**/*.test.ts',
      'test/bridges/{acp-server,frameworks,mcp-server,mock-cli,proxy}.test.ts',
      'test/bridges/copilotkit/*.test.ts',
      'test/security/{start,audit,audit-files,revoked,s8-canaries}.test.ts',
      'test/server/{config-keys,otlp}.test.ts',
    ],
  },
  {
    what: 'coding agents through fake and recorded programs',
    files: ['test/agents/{acp,native,quiet,sandbox,workspace,command}.test.ts', 'test/security/escapes.test.ts'],
  },
  { what: 'every code block of the documentation, and every example', files: ['test/{docs,guides,examples}.test.ts'] },
];

const restFiles: readonly string[] = ONLY_IN_ALL.flatMap(({ files }) => files);

export const FILES_OF: Readonly<Record<Tier, { readonly include: readonly string[]; readonly exclude: readonly string[] }>> = {
  unit: { include: ['src/**/*.test.ts'], exclude: [] },
  default: { include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: restFiles },
  rest: { include: restFiles.map((pattern) => (pattern.endsWith('**') ? `${pattern}/*.test.ts` : pattern)), exclude: [] },
};
