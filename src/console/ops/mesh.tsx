import { agents } from '../agents/known.ts';
import { Empty } from '../ui/basic.tsx';

/** A node that is on no mesh says so, and what to do about it. */
export function MeshPage() {
  return (
    <div class="page">
      <h1>Mesh</h1>
      <Empty title="This node is on no mesh">
        <p>
          A mesh lets agents of several machines find each other over a broker. This node serves {(agents.value ?? []).length} agents over
          HTTP alone; agents elsewhere are reached by their address, <a href="/console/chat">in a chat</a> or with{' '}
          <code>parley proxy URL</code>.
        </p>
      </Empty>
    </div>
  );
}
