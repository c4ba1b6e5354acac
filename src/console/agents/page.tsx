import { useEffect, useState } from 'preact/hooks';
import type { FoundAgentCard } from '#client';
import { findAgentCard } from '#client';
import type { AgentCard } from '#protocol';
import { Usage } from '../ops/slowest.tsx';
import { NODE } from '../prefix.ts';
import { path, rest } from '../route.ts';
import { credentials } from '../session.ts';
import { useSubject } from '../title.ts';
import { Copy, Empty, Problem } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Check, Interfaces } from './checkup.tsx';
import type { AgentCheckup, Whereabouts } from './examined.ts';
import { useExamination } from './examined.ts';
import type { ChatTarget } from './known.ts';
import { agents, agentsProblem, loadAgents } from './known.ts';
import { Recent, useRecent } from './recent.tsx';
import { relayed } from './relay.ts';
import { RemoteForm } from './remote-form.tsx';
import { Signature } from './signature.tsx';
import { chatWith, SkillView } from './skill.tsx';
import './agents.css';

/** `/agents` and `/agents/NAME`. */
export function AgentsPage() {
  return path.value === '/agents' ? <All /> : <One key={path.value} name={rest('/agents')} />;
}

/** The list of all agents of this node. */
function All() {
  const known = agents.value;
  const recent = useRecent();
  return (
    <div class="page">
      <h1>Agents</h1>
      <p class="lead">
        The agents of this node. The page of an agent has its skills and its usage, and checks it as <code>parley doctor</code> does.
      </p>
      <Problem text={agentsProblem.value} onAgain={() => void loadAgents()} />
      {known?.length === 0 ? (
        <Empty title="No agents here">
          <p>
            Start the node with one: <code>parley serve demo</code>, or <code>parley serve ./agent.ts</code> for an agent of yours.
          </p>
        </Empty>
      ) : null}
      <ul class="cards">
        {(known ?? []).map((agent) => (
          <li key={agent.name}>
            <a class="card" href={`/console/agents/${agent.name}`}>
              <strong>{agent.title}</strong>
              <span>{agent.description}</span>
              <Recent tasks={recent.get(agent.name)} />
            </a>
          </li>
        ))}
      </ul>
      <Elsewhere />
    </div>
  );
}

/** Checks an agent at an address that the user enters. Nothing is stored. */
function Elsewhere() {
  const [where, setWhere] = useState<Whereabouts | undefined>(undefined);
  return (
    <section aria-label="A remote agent">
      <RemoteForm
        title="Check a remote agent"
        button="Check agent"
        onAddress={(address) => setWhere(address === undefined ? undefined : { ...address, isOurs: false })}
      />
      {where === undefined ? null : <Whole key={JSON.stringify(where)} where={where} />}
    </section>
  );
}

/** The page of one agent. */
function One({ name }: { readonly name: string }) {
  useSubject(name);
  return (
    <div class="page">
      <p class="crumb">
        <a href="/console/agents">Agents</a> / {name}
      </p>
      <Whole where={{ url: `${NODE}/agents/${name}`, isOurs: true }} name={name} />
    </div>
  );
}

interface WholeProps {
  readonly where: Whereabouts;
  /** An agent of this node. */
  readonly name?: string;
}

/** The page of an agent. An agent without a card is checked too, to find out why it has none. */
function Whole({ where, name }: WholeProps) {
  const [found, setFound] = useState<FoundAgentCard | undefined>(undefined);
  const examined = useExamination(where);
  useEffect(() => {
    const present = () => ({ headers: credentials() });
    const way = where.isOurs ? { auth: { present } } : { fetch: relayed };
    findAgentCard(where.url, way).then(setFound, () => setFound(undefined)); // the checkup reports the problem
  }, []);
  return (
    <article class="agent-card">
      {found === undefined ? null : (
        <>
          <CardHead card={found.card} target={targetOf(where, name)} />
          <Skills card={found.card} target={targetOf(where, name)} />
        </>
      )}
      {name === undefined ? null : <Usage agent={name} />}
      <Check examined={examined} url={where.url} />
      {found === undefined ? null : <CardBody found={found} where={where} examined={examined} />}
    </article>
  );
}

interface CardProps extends Pick<WholeProps, 'where'> {
  readonly found: FoundAgentCard;
  readonly examined: AgentCheckup;
}

/** What the card says, and what the check of the agent found. */
function CardBody({ found: { card, raw, title, url }, where, examined }: CardProps) {
  return (
    <>
      <Signature raw={raw} where={where} />
      <Traits card={card} />
      <h2>Interfaces</h2>
      <Interfaces card={card} examined={examined} />
      <details class="raw-card">
        <summary>
          The card as it was served, read as {title}
          {url === undefined ? '' : ` from ${url}`}
        </summary>
        <div class="tree-box">
          <JsonTree value={raw} open={2} />
        </div>
        <Copy label="Copy JSON" text={() => JSON.stringify(raw, null, 2)} />
      </details>
    </>
  );
}

/** The skills, each with its form: what most people came for. */
function Skills({ card, target }: { readonly card: AgentCard; readonly target: ChatTarget }) {
  return (
    <section aria-label="Skills">
      <h2>Skills</h2>
      {card.skills.length === 0 ? <p class="dim">The card names none. Start a chat to find out what the agent does.</p> : null}
      {card.skills.map((skill) => (
        <SkillView key={skill.id} card={card} skill={skill} target={target} />
      ))}
    </section>
  );
}

function targetOf({ url, auth }: Whereabouts, name: string | undefined): ChatTarget {
  if (name !== undefined) return { name };
  return auth === undefined ? { url } : { url, auth };
}

/** Name, version and description, with a link to the chat. */
function CardHead({ card, target }: { readonly card: AgentCard; readonly target: ChatTarget }) {
  const { name } = target;
  return (
    <header class="spread">
      <div>
        <h1>
          {card.name} <span class="dim version">{card.version}</span>
        </h1>
        <p class="lead">{card.description}</p>
      </div>
      <div class="row">
        <button type="button" class="primary" onClick={() => void chatWith(target)}>
          Chat
        </button>
        {name === undefined ? null : (
          <>
            <a class="button" href={`/console/wire/rosetta?agent=${name}`}>
              Show in every dialect
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

/** The capabilities and requirements of a card, as a table. */
function Traits({ card }: { readonly card: AgentCard }) {
  const { capabilities, securitySchemes = {}, provider } = card;
  const facts: readonly (readonly [string, string])[] = [
    ['Streaming', capabilities.streaming === true ? 'yes' : 'no'],
    ['Webhooks', capabilities.pushNotifications === true ? 'yes' : 'no'],
    ['Extended card', capabilities.extendedAgentCard === true ? 'yes' : 'no'],
    ['Takes', card.defaultInputModes.join(', ') || '–'],
    ['Makes', card.defaultOutputModes.join(', ') || '–'],
    ['Authentication', Object.keys(securitySchemes).join(', ') || 'nothing'],
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
