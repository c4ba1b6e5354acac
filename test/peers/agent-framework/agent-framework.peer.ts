import { STREAMED } from '../frameworks/conversations.ts';
import { describeFramework } from '../frameworks/suite.ts';

await describeFramework({
  name: 'agent-framework',
  title: 'Microsoft Agent Framework',
  pypi: 'agent-framework-a2a',
  client: {
    except: {
      chunks: 'has no get',
      approval: 'its stream does not say that the task waits',
      parts: 'sends no data parts',
      unknown: 'has no get',
      restart: 'has no get',
      cancel: 'has no cancel',
      failure: 'shows the last message of the history, not of the status',
    },
    also: [STREAMED],
  },
  server: { except: { memory: 'makes a new session for every message' } },
});
