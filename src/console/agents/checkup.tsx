import type { Finding } from '#client/doctor';
import { interfaceName } from '#client/doctor';
import type { AgentCard, AgentInterface } from '#protocol';
import { Copy, Problem } from '../ui/basic.tsx';
import type { AgentCheckup } from './examined.ts';

interface CheckProps {
  readonly examined: AgentCheckup & { readonly again: () => void };
  readonly url: string;
}

const BADGES: Readonly<Record<Finding['level'], readonly [string, string]>> = {
  ok: ['ok', 'badge badge-ok'],
  note: ['note', 'badge'],
  warning: ['warning', 'badge badge-warn'],
  error: ['error', 'badge badge-bad'],
};

/** The findings of `parley doctor`: the problem, its reason, and how to fix it. */
export function Check({ examined: { findings, isOver, problem, again }, url }: CheckProps) {
  const command = `parley doctor ${url}`;
  const told = findings.filter(({ level }) => level !== 'ok');
  return (
    <section class="panel check" aria-label="Check" aria-busy={!isOver}>
      <div class="spread">
        <h2>Check</h2>
        <span class="row">
          <Copy label="as CLI" text={command} />
          <button type="button" class="small" disabled={!isOver} onClick={again}>
            Look again
          </button>
        </span>
      </div>
      <Problem text={problem} />
      {isOver ? null : <p class="dim">Checking …</p>}
      {isOver && problem === '' && told.length === 0 ? <p class="fine">No problems found.</p> : null}
      <ul class="findings">
        {findings.map((finding) => (
          <Row key={`${finding.id} ${finding.what}`} finding={finding} />
        ))}
      </ul>
    </section>
  );
}

/** One finding, with its reason and what to do about it. */
function Row({ finding: { level, what, why, fix, id } }: { readonly finding: Finding }) {
  const [word, badge] = BADGES[level];
  return (
    <li>
      <span class={badge}>{word}</span>
      <div>
        {what} {level === 'ok' ? null : <code class="dim">{id}</code>}
        {why === undefined ? null : <p class="dim">because: {why}</p>}
        {fix === undefined ? null : <p>try: {fix}</p>}
      </div>
    </li>
  );
}

interface InterfacesProps {
  readonly card: AgentCard;
  readonly examined: AgentCheckup;
}

/**
 * Each interface of the agent, with the result of a request for an unknown task. The request changes
 * nothing, and a correct agent refuses it.
 */
export function Interfaces({ card, examined }: InterfacesProps) {
  return (
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
          <tr key={interfaceName(one)}>
            <td>{one.protocolBinding}</td>
            <td>{one.protocolVersion}</td>
            <td>
              <code>{one.url}</code>
            </td>
            <td>
              <Outcome one={one} examined={examined} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Outcome({ one, examined: { findings, isOver } }: { readonly one: AgentInterface; readonly examined: AgentCheckup }) {
  const name = interfaceName(one);
  const finding = findings.find(({ what }) => what === name || what.startsWith(`${name} `) || what.startsWith(`${name}:`));
  if (finding === undefined) return <span class="dim">{isOver ? 'not tried' : '…'}</span>;
  const words = finding.what.slice(name.length).replace(/^:?\s*/, '');
  return <span class={BADGES[finding.level][1]}>{words}</span>;
}
