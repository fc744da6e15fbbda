// Keeps a conversation of Gemini CLI from being lost when the CLI opens it over ACP.

export async function keepSession({ load }: { load: () => Promise<void> }): Promise<void> {
  await load();
}
