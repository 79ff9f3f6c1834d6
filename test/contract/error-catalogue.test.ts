import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { problemsOfFormats, problemsOfPatterns } from '../../generated/errors.js';
import { projectRoot } from '../../src/config/project-root.js';
import { describeOperation, operationIds } from '../support/service/contract.js';

type Text = { message: string };
type Written = {
  codes: Record<
    string,
    {
      status: number;
      description: string;
      cause: string;
      cure: string;
      message?: string;
      variants?: Record<string, Text>;
    }
  >;
  fields: Record<string, Text & { pattern?: string; format?: string }>;
};

// The generator checks that the file has this shape.
const { codes, fields } = parse(readFileSync(join(projectRoot, 'openapi/errors.yaml'), 'utf8')) as Written;

const variantsOf = ({ message = '', variants = { default: { message } } }: Written['codes'][string]) =>
  Object.entries(variants);

/** The one file that turns a code, a variant and arguments into a failure. */
const CATALOGUE = 'src/platform/errors/errors.ts';

function filesUnder(folder: string, ending: string) {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
    .map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }));
}

const sources = filesUnder('src', '.ts');

// Functions of the database authenticate callers and return error codes.
const migrations = filesUnder('prisma/migrations', '.sql');
const everything = [...sources, ...migrations].map(({ text }) => text).join('\n');
const isNamed = (name: string) =>
  everything.includes(`'${name}'`) || new RegExp(`\\b${name}: '`).test(everything);

describe('openapi/errors.yaml is the only source of failures', () => {
  // The compiler rejects texts too: ApiError takes a code, a variant and arguments, and FieldError is a branded type.
  test.each([
    ['passes a text to ApiError', /new ApiError\(\s*[^,()]+,\s*['"`]/],
    ['writes the message of a failure', /new ApiError\([^;]*?\bmessage:/],
    ['creates an entry of `errors` by hand', /\bas FieldError\b|\berrors: \[\s*\{/],
    ['derives a class from ApiError', /extends ApiError\b/],
  ])('no source %s', (_what, pattern) => {
    const found = sources.filter(({ path, text }) => path !== CATALOGUE && pattern.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  test('every code and every variant is used', () => {
    const unused = Object.entries(codes).flatMap(([code, written]) => [
      ...(isNamed(code) ? [] : [code]),
      ...variantsOf(written)
        .filter(([name]) => name !== 'default' && !isNamed(name))
        .map(([name]) => `${code} ${name}`),
    ]);
    expect(unused).toEqual([]);
  });

  test('every problem of a field is used, or explains a keyword of a schema', () => {
    const explaining = Object.values({ ...problemsOfPatterns, ...problemsOfFormats }) as string[];
    const unused = Object.keys(fields).filter((name) => !isNamed(name) && !explaining.includes(name));
    expect(unused).toEqual([]);
  });
});

test('the description, the cause and the cure of each code are full sentences', () => {
  const texts = Object.entries(codes).flatMap(([code, { description, cause, cure }]) =>
    [description, cause, cure].map((text) => [code, text] as const),
  );
  expect(texts.filter(([, text]) => !/^[A-Z`][^]*\.$/.test(text))).toEqual([]);
});

describe('the messages', () => {
  const messages = [
    ...Object.entries(codes).flatMap(([code, written]) =>
      variantsOf(written).map(([name, { message }]) => [`${code} ${name}`, message] as const),
    ),
    ...Object.entries(fields).map(([name, { message }]) => [name, message] as const),
  ];

  test('are full sentences', () => {
    const broken = messages.filter(
      ([, message]) => message !== '{problems}' && !/^(?:[A-Z]|\{field\} )[^]*\.$/.test(message),
    );
    expect(broken).toEqual([]);
  });

  test('of a code say what is wrong and what to do next, in at least two sentences', () => {
    const short = Object.entries(codes).flatMap(([code, written]) =>
      variantsOf(written)
        .filter(([, { message }]) => message !== '{problems}' && !/\. [A-Z]/.test(message))
        .map(([name]) => `${code} ${name}`),
    );
    // These two only say what to send.
    expect(short).toEqual(['malformed_request hosts', 'malformed_request target']);
  });

  test('explain every pattern and every format of a request in words', () => {
    const patterns = new Set<unknown>();
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const { type, pattern, format } = node as { type?: unknown; pattern?: unknown; format?: unknown };
      if (type !== undefined && typeof pattern === 'string') patterns.add(pattern);
      if (type !== undefined && typeof format === 'string') patterns.add(format);
      Object.values(node).forEach(visit);
    };
    for (const { parameters, requestBody } of operationIds.map(describeOperation)) {
      visit(parameters?.map(({ schema }) => schema));
      for (const { schema } of Object.values(requestBody?.content ?? {})) visit(schema);
    }
    // These formats forbid nothing: their values are checked elsewhere, are secrets, or need 64 bits.
    for (const free of ['binary', 'password', 'double']) patterns.delete(free);
    const explained: Set<unknown> = new Set(Object.keys({ ...problemsOfPatterns, ...problemsOfFormats }));
    expect([...patterns].filter((each) => !explained.has(each))).toEqual([]);
  });
});
