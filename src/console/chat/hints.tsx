import { useEffect, useState } from 'preact/hooks';
import type { AgentSkill } from '#protocol';
import { createTextPart } from '#protocol';
import { agents, clientFor, titleOf } from '../agents/known.ts';
import type { ChatSession } from './store.ts';
import { sayIn } from './store.ts';

const CHIPS_MAX = 12;

/** Shown in an empty chat: what the agent does, and examples of its skills to send. */
export function Hints({ chat }: { readonly chat: ChatSession }) {
  const { target } = chat;
  const agent = agents.value?.find(({ name }) => name === target.name);
  const [skills, setSkills] = useState<readonly AgentSkill[]>([]);
  useEffect(() => {
    let isOver = false;
    clientFor(target).then(
      ({ card }) => isOver || setSkills(card?.skills ?? []),
      () => undefined, // sending a message tells what is wrong
    );
    return () => {
      isOver = true;
    };
  }, [target]);
  const examples = skills.flatMap(({ id, examples: all = [] }) => all.map((text) => ({ id, text }))).slice(0, CHIPS_MAX);
  return (
    <div class="hints">
      <h1>{agent?.title ?? titleOf(target)}</h1>
      <p class="dim">{agent?.description ?? (target.mesh === undefined ? target.url : 'On this node’s mesh.')}</p>
      {examples.length === 0 ? null : (
        <ul class="chips" aria-label="Examples">
          {examples.map(({ id, text }) => (
            <li key={`${id} ${text}`}>
              <button type="button" class="chip" onClick={() => void sayIn(chat, [createTextPart(text)], { skill: id })}>
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
      {target.name === 'demo' ? (
        <p class="dim">
          Or take <a href="/console/tour">the tour</a>.
        </p>
      ) : null}
    </div>
  );
}
