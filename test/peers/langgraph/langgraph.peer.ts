import { describeFramework } from '../frameworks/suite.ts';

await describeFramework({
  name: 'langgraph',
  title: 'LangGraph Agent Server',
  pypi: 'langgraph-api',
  server: {
    except: {
      parts: 'announces 1.0, and takes files only as 0.3 writes them',
      get: 'a task that is read again has no artifacts',
      restart: 'a task that is read again has no artifacts',
    },
  },
});
