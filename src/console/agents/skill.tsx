import { useState } from 'preact/hooks';
import type { AgentCard, AgentSkill, Json, JsonObject } from '#protocol';
import { createDataPart, createTextPart } from '#protocol';
import type { ChatSession } from '../chat/store.ts';
import { openChat, sayIn } from '../chat/store.ts';
import { go } from '../route.ts';
import { SchemaForm, valueIn } from './form.tsx';
import type { ChatTarget } from './known.ts';
import { titleOf } from './known.ts';

const SCHEMAS = 'urn:parley:a2a:skill-schemas:v1';

/** The JSON Schema of a skill's input, if the card has one. */
function schemaOf(card: AgentCard, id: string): JsonObject | undefined {
  const params = card.capabilities.extensions?.find(({ uri }) => uri === SCHEMAS)?.params;
  const skills = params?.['skills'] as { readonly [id: string]: { readonly input?: { readonly schema?: Json } } } | undefined;
  const schema = skills?.[id]?.input?.schema;
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? (schema as JsonObject) : undefined;
}

interface SkillProps {
  readonly card: AgentCard;
  readonly skill: AgentSkill;
  readonly target: ChatTarget;
}

/** Opens a new chat and shows it. */
export function chatWith(target: ChatTarget): ChatSession {
  const chat = openChat(target);
  go(`/chat/${encodeURIComponent(titleOf(target))}?with=${encodeURIComponent(chat.id)}`);
  return chat;
}

/** A skill with its examples. With a schema of its input, it has a form. */
export function SkillView({ card, skill, target }: SkillProps) {
  const schema = schemaOf(card, skill.id);
  const begin = (parts: Parameters<typeof sayIn>[1]): void => {
    void sayIn(chatWith(target), parts, { skill: skill.id });
  };
  return (
    <section class="panel skill" aria-label={skill.name}>
      <h3>{skill.name}</h3>
      <p>{skill.description}</p>
      <p class="row">
        {skill.tags.map((tag) => (
          <span key={tag} class="badge">
            {tag}
          </span>
        ))}
      </p>
      {schema !== undefined ? null : (
        <p class="row">
          {(skill.examples ?? []).map((example) => (
            <button key={example} type="button" class="small" onClick={() => begin([createTextPart(example)])}>
              {example}
            </button>
          ))}
        </p>
      )}
      {schema === undefined ? null : <Form name={skill.name} schema={schema} onSend={(value) => begin([createDataPart(value)])} />}
    </section>
  );
}

/** A form made from a JSON Schema. Sends nothing while a value is invalid. */
function Form({ name, schema, onSend }: { readonly name: string; readonly schema: JsonObject; readonly onSend: (value: Json) => void }) {
  const [problem, setProblem] = useState('');
  return (
    <form
      class="schema-form"
      aria-label={`Run ${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        const read = valueIn(schema, new FormData(event.currentTarget), '');
        setProblem(read.problem);
        if (read.problem === '') onSend(read.value ?? {});
      }}
    >
      <SchemaForm schema={schema} path="" />
      {problem === '' ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="primary">
        Run {name}
      </button>
    </form>
  );
}
