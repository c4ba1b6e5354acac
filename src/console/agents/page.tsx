import { useEffect, useState } from 'preact/hooks';
import type { FoundAgentCard } from '#client';
import { findAgentCard } from '#client';
import type { AgentCard } from '#protocol';
import { wordsFor } from '../api.ts';
import { path, rest } from '../route.ts';
import { credentials } from '../session.ts';
import { Copy, Empty, Problem } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { warningsFor } from './check.ts';
import { InterfaceRow } from './interfaces.tsx';
import { agents, agentsProblem, loadAgents, relayed } from './known.ts';
import { SkillView } from './skill.tsx';
import './agents.css';

export function AgentsPage() {
  return path.value === '/agents' ? <All /> : <One key={path.value} name={rest('/agents')} />;
}

function All() {
  const known = agents.value;
  return (
    <div class="page">
      <h1>Agents</h1>
      <p class="lead">What this node serves. Each card is read as any client reads it, and checked against A2A 1.0.</p>
      <Problem text={agentsProblem.value} onAgain={() => void loadAgents()} />
      {known?.length === 0 ? <Empty title="No agents here" /> : null}
      <ul class="cards">
        {(known ?? []).map((agent) => (
          <li key={agent.name}>
            <a class="card" href={`/console/agents/${agent.name}`}>
              <strong>{agent.title}</strong>
              <span>{agent.description}</span>
            </a>
          </li>
        ))}
      </ul>
      <Elsewhere />
    </div>
  );
}

/** An agent at an address that is typed here; it is looked at without being kept. */
function Elsewhere() {
  const [url, setUrl] = useState('');
  const [found, setFound] = useState<FoundAgentCard | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const look = async (): Promise<void> => {
    setProblem('');
    setFound(undefined);
    try {
      setFound(await findAgentCard(url, { fetch: relayed }));
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  return (
    <section aria-label="An agent elsewhere">
      <form
        class="panel elsewhere"
        onSubmit={(event) => {
          event.preventDefault();
          void look();
        }}
      >
        <h2>Look at an agent elsewhere</h2>
        <label>
          Address
          <input type="url" value={url} placeholder="https://agent.example" onInput={(event) => setUrl(event.currentTarget.value)} />
        </label>
        <Problem text={problem} />
        <button type="submit">Read its card</button>
      </form>
      {found === undefined ? null : <CardView found={found} isOurs={false} />}
    </section>
  );
}

function One({ name }: { readonly name: string }) {
  const [found, setFound] = useState<FoundAgentCard | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const present = () => ({ headers: credentials() });
    findAgentCard(`${location.origin}/agents/${name}`, { auth: { present } }).then(setFound, (thrown: unknown) =>
      setProblem(wordsFor(thrown)),
    );
  }, [name]);
  return (
    <div class="page">
      <p class="crumb">
        <a href="/console/agents">Agents</a> / {name}
      </p>
      <Problem text={problem} />
      {found === undefined ? null : <CardView found={found} isOurs name={name} />}
    </div>
  );
}

interface CardProps {
  readonly found: FoundAgentCard;
  readonly isOurs: boolean;
  readonly name?: string;
}

function CardView({ found, isOurs, name }: CardProps) {
  const { card, raw, title, url } = found;
  const warnings = warningsFor(card, raw, url ?? '');
  return (
    <article class="agent-card">
      <CardHead card={card} {...(name === undefined ? {} : { name })} />
      <section class="panel check" aria-label="Check">
        <h2>Check</h2>
        {warnings.length === 0 ? <p class="fine">Nothing is wrong with this card.</p> : null}
        <ul>
          {warnings.map(({ level, text }) => (
            <li key={text} class={level}>
              {text}
            </li>
          ))}
        </ul>
        <p class="dim">
          Read as {title}
          {url === undefined ? '' : ` from ${url}`}. The whole examination, its calls included: <code>parley doctor {url ?? ''}</code>
        </p>
      </section>
      <Traits card={card} />
      <h2>Interfaces</h2>
      <table class="interfaces">
        <thead>
          <tr>
            <th scope="col">Binding</th>
            <th scope="col">Version</th>
            <th scope="col">Address</th>
            <th scope="col">Tried</th>
          </tr>
        </thead>
        <tbody>
          {card.supportedInterfaces.map((one) => (
            <InterfaceRow key={`${one.protocolBinding} ${one.protocolVersion} ${one.url}`} card={card} one={one} isOurs={isOurs} />
          ))}
        </tbody>
      </table>
      <h2>Skills</h2>
      {card.skills.length === 0 ? <p class="dim">It names none.</p> : null}
      {card.skills.map((skill) => (
        <SkillView key={skill.id} card={card} skill={skill} {...(name === undefined ? {} : { agent: name })} />
      ))}
      <details class="raw-card">
        <summary>The card as it was served</summary>
        <div class="tree-box">
          <JsonTree value={raw} open={2} />
        </div>
        <Copy label="Copy JSON" text={() => JSON.stringify(raw, null, 2)} />
      </details>
    </article>
  );
}

function CardHead({ card, name }: { readonly card: AgentCard; readonly name?: string }) {
  return (
    <header class="spread">
      <div>
        <h1>
          {card.name} <span class="dim version">{card.version}</span>
        </h1>
        <p class="lead">{card.description}</p>
      </div>
      <div class="row">
        {name === undefined ? null : (
          <>
            <a class="button primary" href={`/console/chat/${name}`}>
              Chat
            </a>
            <a class="button" href={`/console/wire/rosetta?agent=${name}`}>
              In every dialect
            </a>
            <a class="button" href={`/console/tasks?agent=${name}`}>
              Tasks
            </a>
          </>
        )}
      </div>
    </header>
  );
}

function Traits({ card }: { readonly card: AgentCard }) {
  const { capabilities, securitySchemes = {}, signatures = [], provider } = card;
  const facts: readonly (readonly [string, string])[] = [
    ['Streaming', capabilities.streaming === true ? 'yes' : 'no'],
    ['Webhooks', capabilities.pushNotifications === true ? 'yes' : 'no'],
    ['Extended card', capabilities.extendedAgentCard === true ? 'yes' : 'no'],
    ['Takes', card.defaultInputModes.join(', ') || '–'],
    ['Makes', card.defaultOutputModes.join(', ') || '–'],
    ['Asks for', Object.keys(securitySchemes).join(', ') || 'nothing'],
    ['Signature', signatures.length === 0 ? 'none' : `${signatures.length}, checked by parley card get --verify`],
    ['Provider', provider?.organization ?? '–'],
    ['Extensions', (capabilities.extensions ?? []).map(({ uri }) => uri).join(', ') || 'none'],
  ];
  return (
    <dl class="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd title={value}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
