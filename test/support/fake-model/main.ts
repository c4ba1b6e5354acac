import { startFakeModel } from './server.ts';

// For trying a CLI by hand: `node --conditions=our-src test/support/fake-model/main.ts`.
const model = await startFakeModel((line) => process.stderr.write(`${line}\n`));
process.stdout.write(`${model.url}\n`);
