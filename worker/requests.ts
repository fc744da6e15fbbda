// The query or body of an API call, checked against a schema. Raises `bad_request`.

import * as v from 'valibot';
import { WaError } from '../protocol/errors.ts';

export function readQuery<const Schema extends v.GenericSchema>(
  schema: Schema,
  query: Record<string, string>,
): v.InferOutput<Schema> {
  return checked(schema, { ...query, project: Number(query.project || Number.NaN) });
}

export function readBody<const Schema extends v.GenericSchema>(schema: Schema, text: string): v.InferOutput<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WaError('bad_request', `the body of ${text.length} characters is not JSON`);
  }
  return checked(schema, value);
}

function checked<const Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new WaError(
    'bad_request',
    `${v.getDotPath(issue) ?? 'the body'}: ${issue.type} expected, ${issue.expected ?? ''}`,
  );
}
