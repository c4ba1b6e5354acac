import { agents } from '../agents/known.ts';

/** Which agents this node would offer on a mesh. Brokers and heartbeats are not shown by this page yet. */
export function MeshPage() {
  const known = agents.value ?? [];
  return (
    <div class="page">
      <h1>Mesh</h1>
      <p class="lead">
        A mesh lets agents of several machines find each other over a broker. A node joins one with <code>parley serve --mesh BROKER</code>,
        and its agents are offered there too. How the mesh hangs together is not drawn here yet.
      </p>
      <h2>Agents of this node</h2>
      <ul class="cards">
        {known.map((agent) => (
          <li key={agent.name}>
            <a class="card" href={`/console/agents/${agent.name}`}>
              <strong>{agent.title}</strong>
              <span>{agent.description}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
