/** The agent `llm`: a language model (docs/agents.md). Its model is `run.model`. */
export const LLM_SETTINGS = {
  'llm.baseUrl': {
    type: 'text',
    flag: 'base-url',
    placeholder: 'URL',
    alsoEnv: ['OPENAI_BASE_URL'],
    doc: "The address of the model's API, as `http://127.0.0.1:11434/v1`. Default: OpenAI's or Anthropic's own. The key is in `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`.",
  },
  'llm.api': {
    type: 'choice',
    oneOf: ['openai', 'anthropic'],
    default: 'openai',
    flag: 'api',
    doc: "The API of the model: OpenAI's chat completions, which most servers have, or Anthropic's messages.",
  },
  'llm.system': { type: 'text', flag: 'system', placeholder: 'TEXT', doc: 'Instructions for the model.' },
  'llm.tools': {
    type: 'list',
    flag: 'tool',
    placeholder: 'TOOL',
    doc: "What the model may call: `mcp:COMMAND` or `mcp:URL` for an MCP server's tools, the address of an agent, or its name in `a2a.remoteAgents`.",
  },
  'llm.approval': {
    type: 'choice',
    oneOf: ['always', 'unless-read-only', 'never'],
    default: 'unless-read-only',
    flag: 'tool-approval',
    doc: 'Which calls of tools the caller must allow first. Tools of MCP servers and of other agents are never counted as read-only.',
  },
} as const;
