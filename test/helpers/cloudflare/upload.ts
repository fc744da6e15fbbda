// What Cloudflare refuses of an upload, by the recorded contract: metadata, bindings, migrations, the module itself. Shares no code with
// the client that it judges.

import { build } from 'esbuild';

export interface Binding {
  type: string;
  name: string;
  text?: string;
  class_name?: string;
}

export interface Script {
  code: string;
  bindings: Binding[];
  compatibilityDate: string;
  compatibilityFlags: string[];
  migrationTag: string | undefined;
  classes: string[];
}

/** An answer of the API that is no success. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  readonly headers: Record<string, string>;

  constructor(status: number, code: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

const invalid = (message: string) => new Refusal(400, 10021, message);

const metadataKeys = [
  'main_module',
  'bindings',
  'compatibility_date',
  'compatibility_flags',
  'migrations',
  'code_update_strategy',
  'keep_bindings',
  'observability',
];
const bindingKeys: Record<string, string[]> = {
  secret_text: ['text'],
  plain_text: ['text'],
  durable_object_namespace: ['class_name'],
};
const keepable = ['plain_text', 'json', 'secret_text', 'secret_key'];

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function onlyKeys(value: Json, keys: readonly string[], what: string): void {
  const extra = Object.keys(value).find((key) => !keys.includes(key));
  if (extra !== undefined) throw invalid(`${what}: unknown field "${extra}"`);
}

/** The script after this upload. Throws a `Refusal`. */
export async function acceptUpload(
  body: Buffer,
  contentType: string,
  live: Script | undefined,
  maxBytes: number,
): Promise<Script> {
  if (body.length > maxBytes)
    throw new Refusal(413, 10027, `Your Worker exceeded the size limit of ${maxBytes} bytes.`);
  if (!contentType.startsWith('multipart/form-data; boundary='))
    throw new Refusal(415, 10001, 'Unexpected Content-Type');
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => {
      throw new Refusal(400, 10006, 'Could not parse your Worker’s form data.');
    });
  const metadata = metadataOf(form.get('metadata'));
  const code = await moduleOf(form, metadata.main_module);
  const exported = await exportsOf(code);
  const { tag, classes } = migrate(metadata.migrations, live, exported);
  const bindings = bindingsOf(metadata, live, classes);
  return {
    code,
    bindings,
    compatibilityDate: metadata.compatibility_date as string,
    compatibilityFlags: metadata.compatibility_flags as string[],
    migrationTag: tag,
    classes,
  };
}

function metadataOf(part: unknown): Json {
  let metadata: unknown;
  try {
    metadata = JSON.parse(String(part));
  } catch {
    throw invalid('metadata is not JSON');
  }
  if (!isObject(metadata)) throw invalid('metadata is missing');
  onlyKeys(metadata, metadataKeys, 'metadata');
  if (typeof metadata.main_module !== 'string') throw invalid('metadata must name a main_module');
  if (!/^\d{4}-\d\d-\d\d$/.test(String(metadata.compatibility_date))) throw invalid('compatibility_date is not a date');
  const flags = metadata.compatibility_flags;
  if (!Array.isArray(flags) || !flags.every((flag) => typeof flag === 'string')) throw invalid('compatibility_flags');
  if (!isObject(metadata.observability)) throw invalid('observability must be an object');
  onlyKeys(metadata.observability, ['enabled', 'head_sampling_rate'], 'observability');
  if (metadata.code_update_strategy !== undefined) {
    if (!isObject(metadata.code_update_strategy)) throw invalid('code_update_strategy must be an object');
    onlyKeys(metadata.code_update_strategy, ['mode', 'max_delay'], 'code_update_strategy');
  }
  return metadata;
}

async function moduleOf(form: FormData, name: unknown): Promise<string> {
  const extra = [...form.keys()].find((key) => key !== 'metadata' && key !== name);
  if (extra !== undefined) throw invalid(`the part "${extra}" is named nowhere`);
  const module = form.get(String(name));
  if (!(module instanceof File)) throw invalid(`No such module "${name}".`);
  if (module.type !== 'application/javascript+module') throw invalid(`the module has the type ${module.type}`);
  return module.text();
}

async function exportsOf(code: string): Promise<string[]> {
  const options = { bundle: false, write: false, metafile: true, format: 'esm', logLevel: 'silent' } as const;
  const built = await build({ ...options, stdin: { contents: code } }).catch(() => {
    throw invalid('Uncaught SyntaxError in the script');
  });
  const exported = Object.values(built.metafile.outputs).flatMap((output) => output.exports);
  if (!exported.includes('default'))
    throw new Refusal(400, 10068, 'The uploaded script has no registered event handlers.');
  return exported;
}

function migrate(
  given: unknown,
  live: Script | undefined,
  exported: string[],
): { tag: string | undefined; classes: string[] } {
  const classes = [...(live?.classes ?? [])];
  if (given === undefined) return { tag: live?.migrationTag, classes };
  if (!isObject(given)) throw invalid('migrations must be an object');
  onlyKeys(given, ['old_tag', 'new_tag', 'steps'], 'migrations');
  const { old_tag: oldTag, new_tag: newTag, steps } = given;
  if (oldTag !== live?.migrationTag) {
    const message = `Durable Object migration tag precondition failed: the tag is ${live?.migrationTag}, expected ${oldTag}`;
    throw new Refusal(412, 10079, message);
  }
  if (typeof newTag !== 'string' || newTag === live?.migrationTag) throw invalid('migrations need another new_tag');
  if (!Array.isArray(steps) || steps.length === 0) throw invalid('migrations need steps');
  for (const step of steps) {
    if (!isObject(step)) throw invalid('a step must be an object');
    onlyKeys(step, ['new_sqlite_classes'], 'a step');
    for (const name of step.new_sqlite_classes as string[]) {
      if (classes.includes(name))
        throw new Refusal(400, 10074, `Cannot apply new-class migration to existing class ${name}`);
      if (!exported.includes(name)) throw new Refusal(400, 10070, `the script does not export the class ${name}`);
      classes.push(name);
    }
  }
  return { tag: newTag, classes };
}

function bindingsOf(
  { bindings, keep_bindings: keep = [] }: Json,
  live: Script | undefined,
  classes: string[],
): Binding[] {
  if (!Array.isArray(bindings)) throw invalid('bindings must be an array');
  if (!Array.isArray(keep) || !keep.every((type) => keepable.includes(type)))
    throw invalid('unknown type in keep_bindings');
  const own = bindings.map((binding: unknown) => checkedBinding(binding, classes));
  const names = own.map(({ name }) => name);
  if (new Set(names).size < names.length) throw invalid('two bindings have one name');
  const kept = live?.bindings.filter(({ type, name }) => keep.includes(type) && !names.includes(name)) ?? [];
  return [...own, ...kept];
}

function checkedBinding(binding: unknown, classes: string[]): Binding {
  if (!isObject(binding) || typeof binding.type !== 'string') throw invalid('a binding must be an object with a type');
  const fields = bindingKeys[binding.type];
  if (fields === undefined) throw invalid(`unknown binding type "${binding.type}"`);
  onlyKeys(binding, ['type', 'name', ...fields], `binding ${binding.name}`);
  for (const field of ['name', ...fields]) {
    if (typeof binding[field] !== 'string' || binding[field] === '') throw invalid(`a binding needs ${field}`);
  }
  if (binding.class_name !== undefined && !classes.includes(binding.class_name as string)) {
    const message = `Cannot create binding for class ${binding.class_name} that is not currently configured to implement Durable Objects.`;
    throw new Refusal(400, 10061, message);
  }
  return binding as unknown as Binding;
}
