// Which room may import which, as docs/architecture.md says. `npm run check` runs it and demands that it saw the modules.
const MAY_IMPORT = {
  protocol: [],
  bindings: ['protocol'],
  engine: ['protocol'],
  agents: ['protocol'],
  client: ['protocol', 'bindings'],
  tools: ['protocol', 'client', 'agents'],
  workflows: ['protocol', 'engine', 'agents'],
  server: ['protocol', 'bindings', 'engine', 'agents', 'client'],
  mesh: ['protocol', 'bindings', 'engine', 'agents', 'client', 'tools', 'server'],
  console: ['protocol', 'client'],
  cli: ['protocol', 'bindings', 'engine', 'agents', 'client', 'tools', 'workflows', 'server', 'mesh'],
};
const rooms = Object.keys(MAY_IMPORT);
const outside = (room) => rooms.filter((other) => other !== room && !MAY_IMPORT[room].includes(other)).join('|') || '-';
const TEST = '[.]test[.]ts$';
const DRIVER = '/adapters/[^/]+[.]ts$';
/** A driver of more than one file keeps the others in a folder of its own name. */
const DRIVER_PART = '/adapters/';

module.exports = {
  forbidden: [
    ...rooms.map((room) => ({
      name: `room-${room}`,
      severity: 'error',
      from: { path: `^src/${room}/`, pathNot: TEST },
      to: { path: `^src/(${outside(room)})/` },
    })),
    {
      name: 'enter-by-the-door',
      comment:
        'Another room is entered by its index.ts (public) or internal.ts (for our own rooms), by a driver it offers, or by the doctor, which a page that only calls agents should not load.',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: {
        path: '^src/[^/]+/',
        pathNot: ['^src/$1/', '^src/[^/]+/(index|internal)[.]ts$', '^src/client/(doctor/examine|strict/strict)[.]ts$', DRIVER],
      },
    },
    {
      name: 'drivers-are-chosen-late',
      comment:
        'Only the edge decides which driver serves a port. The gRPC link and, on Node, the client load their own with the first call, and the console OAuth with the first sign-in, so that nobody else needs it.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/(cli|server)/',
          '^src/index[.]ts$',
          '^src/bindings/grpc/(transport|on-demand)[.]ts$',
          '^src/client/connection/platform[.]ts$',
          '^src/console/agents/remote-auth[.]ts$',
          DRIVER,
          TEST,
        ],
      },
      to: { path: DRIVER },
    },
    {
      name: 'dialects-stand-alone',
      comment: 'A dialect is one folder. Only 0.2 and Solace Agent Mesh build on another one, 0.3.',
      severity: 'error',
      from: { path: '^src/protocol/dialects/([^/]+)/', pathNot: ['^src/protocol/dialects/(v02|sam)/', TEST] },
      to: { path: '^src/protocol/dialects/[^/]+/', pathNot: ['^src/protocol/dialects/($1|shared)/'] },
    },
    {
      name: 'built-on-v03',
      severity: 'error',
      from: { path: '^src/protocol/dialects/(v02|sam)/', pathNot: TEST },
      to: { path: '^src/protocol/dialects/[^/]+/', pathNot: ['^src/protocol/dialects/($1|v03|shared)/'] },
    },
    {
      name: 'old-fields-stay-in-dialects',
      comment: 'Nothing but the registry reaches into a dialect.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/protocol/dialects/', TEST] },
      to: { path: '^src/protocol/dialects/[^/]+/' },
    },
    {
      name: 'one-owner-of-tasks',
      comment: 'Only engine/tasks changes a task. Everything else has a LiveTask.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/engine/tasks/' },
      to: { path: '^src/engine/tasks/task-in-memory[.]ts$' },
    },
    {
      name: 'pure-core',
      comment: 'Inner rooms reach the outside through ports. Drivers import packages.',
      severity: 'error',
      from: { path: '^src/(protocol|bindings|engine|client|tools|workflows|mesh)/', pathNot: [DRIVER_PART, TEST] },
      to: { dependencyTypes: ['core', 'npm', 'npm-peer', 'npm-optional', 'npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'console-packages',
      comment: 'What the page is drawn with, and nothing else (docs/decisions/2026-11-15-what-the-console-is-made-with.md).',
      severity: 'error',
      from: { path: '^src/console/' },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-peer', 'npm-optional', 'npm-dev', 'npm-no-pkg', 'npm-unknown'],
        pathNot: 'node_modules/(preact|@preact/signals|marked|dompurify)/',
      },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, pathNot: ['^src/cli/main[.]ts$', '^src/console/(main[.]tsx|declarations[.]d[.]ts)$', DRIVER] },
      to: {},
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { conditionNames: ['our-src', 'import', 'node', 'default'], exportsFields: ['exports'] },
  },
};
