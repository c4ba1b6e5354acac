import { STREAMED } from '../frameworks/conversations.ts';
import { describeFramework } from '../frameworks/suite.ts';

await describeFramework({
  name: 'strands',
  title: 'Strands Agents',
  pypi: 'strands-agents',
  client: {
    except: {
      chunks: 'has no get',
      memory: 'sends no contexts',
      question: 'sends no task ids',
      approval: 'sends no task ids',
      parts: 'sends no data parts',
      cancel: 'has no cancel',
      unknown: 'has no get',
      restart: 'has no get',
    },
    also: [STREAMED],
  },
  server: { except: {} },
});
