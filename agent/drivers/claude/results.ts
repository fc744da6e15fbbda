// The form in which a text can take the place of a tool's result in Claude Code. Pure. Source: measurements on 2.1.329; WebFetch, Glob and
// Grep by the program's own description of their results.

type Form = (said: string) => object;

/** The host takes a text only in the form of the tool's own result, and ignores every other form. */
const forms: Readonly<Record<string, Form>> = {
  Bash: (said) => ({ stdout: said, stderr: '', interrupted: false, isImage: false }),
  Read: (said) => ({
    type: 'text',
    file: { filePath: '', content: said, numLines: 1, startLine: 1, totalLines: 1 },
  }),
  Agent: (said) => ({
    status: 'completed',
    prompt: '',
    agentId: '',
    content: [{ type: 'text', text: said }],
    totalDurationMs: 0,
    totalTokens: 0,
    totalToolUseCount: 0,
    usage: {
      input_tokens: 0,
      output_tokens: 0,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      server_tool_use: null,
      service_tier: null,
      cache_creation: null,
    },
  }),
  Glob: (said) => ({ durationMs: 0, numFiles: 1, filenames: [said], truncated: false }),
  Grep: (said) => ({ mode: 'content', numFiles: 0, filenames: [], content: said, numLines: 1 }),
  WebFetch: (said) => ({ bytes: 0, code: 200, codeText: '', result: said, durationMs: 0, url: '' }),
  WebSearch: (said) => ({ query: '', results: [said], durationSeconds: 0 }),
};

/** Undefined = the host replaces no result of this tool. */
export function replacedResult(tool: string, server: string | undefined, said: string): object | undefined {
  if (server !== undefined) return [{ type: 'text', text: said }];
  return Object.hasOwn(forms, tool) ? forms[tool]?.(said) : undefined;
}
