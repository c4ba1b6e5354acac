import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { agents, agentsProblem, loadAgents } from './agents/known.ts';
import { ChatPage } from './chat/page.tsx';
import { watchNode } from './ops/watch.ts';
import { watchReplicas } from './replicas/state.ts';
import { go, path } from './route.ts';
import { refused, token } from './session.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';
import { Empty } from './ui/basic.tsx';
import { lazily } from './ui/lazy.tsx';

const PAGES: readonly (readonly [string, FunctionComponent])[] = [
  ['/chat', ChatPage],
  ['/home', lazily(async () => (await import('./home/page.tsx')).HomePage)],
  ['/tour', lazily(async () => (await import('./tour/page.tsx')).TourPage)],
  ['/tasks', lazily(async () => (await import('./tasks/page.tsx')).TasksPage)],
  ['/shared', lazily(async () => (await import('./share/page.tsx')).SharedPage)],
  ['/wire', lazily(async () => (await import('./wire/page.tsx')).WirePage)],
  ['/agents', lazily(async () => (await import('./agents/page.tsx')).AgentsPage)],
  ['/approvals', lazily(async () => (await import('./ops/approvals.tsx')).ApprovalsPage)],
  ['/push', lazily(async () => (await import('./ops/push.tsx')).PushPage)],
  ['/mesh', lazily(async () => (await import('./mesh/page.tsx')).MeshPage)],
  ['/replicas', lazily(async () => (await import('./replicas/page.tsx')).ReplicasPage)],
  ['/health', lazily(async () => (await import('./ops/health.tsx')).HealthPage)],
];

/** The whole console. Loads the agents again after each sign-in. */
export function App() {
  const here = path.value;
  const who = token.value;
  const known = agents.value ?? (agentsProblem.value === '' ? undefined : []);
  useEffect(() => {
    void loadAgents();
    const ends = [watchNode(), watchReplicas()];
    return () => {
      for (const end of ends) end();
    };
  }, [who]);
  useEffect(() => {
    if (here !== '/' || known === undefined) return;
    // A node with nothing but the demo agent is there to be looked at.
    const isDemo = known.length === 1 && known[0]?.name === 'demo';
    go(isDemo ? '/tour' : '/home', { replace: true });
  }, [here, known]);
  const Page = PAGES.find(([prefix]) => here === prefix || here.startsWith(`${prefix}/`))?.[1] ?? (here === '/' ? undefined : Nowhere);
  return <Shell>{refused.value === undefined ? Page === undefined ? null : <Page /> : <SignIn />}</Shell>;
}

function Nowhere() {
  return (
    <Empty title="Page not found" isPage>
      <p>
        The console has no page at <code>{path.value}</code>. <a href="/console/chat">Go to the conversations</a>.
      </p>
    </Empty>
  );
}
