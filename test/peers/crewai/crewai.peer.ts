import { describeFramework } from '../frameworks/suite.ts';

await describeFramework({
  name: 'crewai',
  title: 'crewAI',
  pypi: 'crewai',
  client: {
    except: {
      chunks: 'returns one text',
      approval: 'returns one text',
      parts: 'returns one text',
      unknown: 'has no get',
      restart: 'has no get',
      cancel: 'has no cancel',
    },
  },
  server: {
    except: {
      memory: 'an agent keeps no history of a context',
      cancel: 'names its task only at its end',
      restart: 'names its task only at its end',
      failure: 'answers with an error and keeps no task',
    },
  },
});
