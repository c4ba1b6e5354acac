import { describeFramework } from '../frameworks/suite.ts';

await describeFramework({
  name: 'pydantic',
  title: 'pydantic-ai with fasta2a',
  pypi: 'pydantic-ai-slim',
  client: {
    except: {
      chunks: 'has no streams',
      approval: 'has no streams',
      cancel: 'has no streams',
      restart: 'has no streams',
      unknown: 'refuses an error whose message is not literally its own',
    },
    traits: { losesFileNames: true },
  },
  server: { except: { cancel: 'does not stop the work', slow: 'its worker runs one task after the other' } },
});
