// `npm run e2e:connect`: Connect's own conformance suite against our gRPC, gRPC-Web and Connect. Builds the suite with Go into .cache. The
// results are in docs/conformance.md.
import { ensureInstalled, runTool } from './install.mjs';

await ensureInstalled();
const { status } = runTool('node', ['--conditions=our-src', '--disable-warning=ExperimentalWarning', 'test/grpc/suite/run.ts']);
process.exit(status ?? 1);
