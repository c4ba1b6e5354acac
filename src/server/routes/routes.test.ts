import { describe, expect, it } from 'vitest';
import { methodsOf, parsePath, routesAt } from './routes.ts';

const names = (path: string): readonly string[] => routesAt(parsePath(path)).map((route) => route.name);

describe('a path', () => {
  it('belongs to the root agent, or to the one it names', () => {
    expect(parsePath('/a2a')).toEqual({ agent: undefined, base: '', path: '/a2a' });
    expect(parsePath('/agents/echo')).toEqual({ agent: 'echo', base: '/agents/echo', path: '/' });
    expect(parsePath('/agents/echo/')).toEqual({ agent: 'echo', base: '/agents/echo', path: '/' });
    expect(parsePath('/agents/echo/a2a/')).toEqual({ agent: 'echo', base: '/agents/echo', path: '/a2a' });
    expect(parsePath('/agents')).toMatchObject({ agent: undefined, path: '/agents' });
    expect(parsePath('//')).toMatchObject({ agent: undefined, path: '/' });
  });

  it('has the routes of the table', () => {
    expect(names('/')).toEqual(['jsonrpc', 'welcome']);
    expect(names('/api/a2a/')).toEqual(['jsonrpc']);
    expect(names('/.well-known/agent.json')).toEqual(['card']);
    expect(names('/api/parley/v1')).toEqual(['admin']);
    expect(names('/api/parley/v1/tasks/x:retry')).toEqual(['admin']);
    expect(names('/api/parley/v10')).toEqual([]);
    expect(names('/agents/x/api/parley/v1/tasks')).toEqual([]);
  });

  it('is HTTP+JSON if a dialect has it', () => {
    for (const path of ['/message:send', '/tasks/x:cancel', '/t/tasks', '/v1/message:stream', '/v1/card', '/agents/x/tasks/y']) {
      expect([path, names(path)]).toEqual([path, ['rest']]);
    }
    for (const path of ['/nothing', '/console/tasks/x', '/.well-known/tasks', '/message'])
      expect([path, names(path)]).not.toEqual([path, ['rest']]);
  });

  it('that is malformed belongs to a route that rejects it', () => {
    expect(names('/tasks/%zz')).toEqual(['rest']);
  });

  it('has the methods of its routes', () => {
    expect(methodsOf(routesAt(parsePath('/')))).toBe('POST, GET, HEAD');
  });
});
