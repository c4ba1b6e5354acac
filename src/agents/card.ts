import type { AgentCapabilities, AgentCard, AgentProvider, AgentSkill, SecurityRequirement, SecurityScheme } from '#protocol';
import { a2uiExtensions } from '#protocol';
import type { SkillDefinition } from './skills.ts';
import { publishedSkill, schemaExtension } from './skills.ts';

/** The public description of an agent. */
export interface CardDefinition {
  /** For people and for the path: `/agents/<name>`. */
  readonly name: string;
  /** What the agent does. Clients and models choose agents by it. */
  readonly description: string;
  /** Version of the agent, not of the protocol. */
  readonly version?: string;
  /** Default: one skill that describes the whole agent. */
  readonly skills?: readonly SkillDefinition[];
  /** Streaming and push notifications are on by default. */
  readonly capabilities?: AgentCapabilities;
  /** The agent shows A2UI surfaces (`surface`). The card then declares the extension. Default false. */
  readonly surfaces?: boolean;
  /** Accepted media types. `image/*` and `*\/*` are patterns; others are refused. Default of `defineAgent`: text, JSON and every other type. */
  readonly inputModes?: readonly string[];
  /** Media types that the agent produces. Default: text and JSON. */
  readonly outputModes?: readonly string[];
  /** The organisation that offers the agent. */
  readonly provider?: AgentProvider;
  /** A page for people. */
  readonly documentationUrl?: string;
  /** A picture for clients that list agents. */
  readonly iconUrl?: string;
  /** Usually left out: the server adds the schemes that it enforces. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** Usually left out: the server adds what it requires. */
  readonly securityRequirements?: readonly SecurityRequirement[];
}

const TEXT_AND_JSON = ['text/plain', 'application/json'];
/** A surface's part, in every version. */
const SURFACES = ['application/a2ui+json', 'application/json+a2ui'];

/**
 * A card with everything that 1.0 requires, except the interfaces, which the server fills in.
 *
 * ```ts
 * const card = createCard({ name: 'translator', description: 'Translates text.', skills: [] });
 * ```
 */
export function createCard(definition: CardDefinition): AgentCard {
  // JavaScript can leave the description out. The server then asks for one.
  const { name, description = '', skills = [] }: Partial<Pick<CardDefinition, 'description'>> & CardDefinition = definition;
  const schemas = schemaExtension(skills);
  const extensions = [
    ...(definition.capabilities?.extensions ?? []),
    ...(schemas === undefined ? [] : [schemas]),
    ...(definition.surfaces === true ? a2uiExtensions() : []),
  ];
  const { provider, documentationUrl, iconUrl, securitySchemes, securityRequirements } = definition;
  return {
    name,
    description,
    version: definition.version ?? '1.0.0',
    supportedInterfaces: [],
    capabilities: {
      streaming: true,
      pushNotifications: true,
      ...definition.capabilities,
      ...(extensions.length === 0 ? {} : { extensions }),
    },
    defaultInputModes: withSurfaces(definition.inputModes ?? TEXT_AND_JSON, definition),
    defaultOutputModes: withSurfaces(definition.outputModes ?? TEXT_AND_JSON, definition),
    skills: skills.length === 0 ? [wholeAgent(name, description)] : skills.map(publishedSkill),
    ...(provider === undefined ? {} : { provider }),
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    ...(iconUrl === undefined ? {} : { iconUrl }),
    ...(securitySchemes === undefined ? {} : { securitySchemes }),
    ...(securityRequirements === undefined ? {} : { securityRequirements }),
  };
}

function withSurfaces(modes: readonly string[], { surfaces }: CardDefinition): readonly string[] {
  return surfaces === true ? [...modes, ...SURFACES.filter((mode) => !modes.includes(mode))] : modes;
}

/**
 * A2A 1.0.1 §4.4.5: id, name, description and tags are required, and clients choose an agent by its
 * skills.
 */
function wholeAgent(name: string, description: string): AgentSkill {
  const id =
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '') || 'agent';
  return { id, name, description, tags: [id] };
}
