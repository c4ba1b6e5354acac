import { STREAMED } from '../frameworks/conversations.ts';
import { describeFramework } from '../frameworks/suite.ts';

await describeFramework({
  name: 'adk',
  title: 'Google ADK',
  pypi: 'google-adk',
  client: {
    except: {
      chunks: 'its events have no states',
      question: 'its sessions know no tasks',
      approval: 'its sessions know no tasks',
      parts: 'sends no data parts',
      cancel: 'has no cancel',
      unknown: 'has no get',
      restart: 'has no get',
      failure: 'its events have no states',
    },
    also: [STREAMED],
    // Its client refuses a card with an address that has no scheme, and gRPC's addresses have none.
    serveFlags: ['--no-grpc'],
  },
  server: { except: {} },
});
