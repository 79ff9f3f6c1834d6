import { inSpan, type Span } from './span.js';

type Statement = { text: string };

/** Runs statements that are sent together. In a sampled trace they are one span, with their texts and without their values. */
export const traceStatements = <Result>(
  parent: Span | undefined,
  statements: readonly Statement[],
  run: () => Promise<Result>,
): Promise<Result> => (parent ? inSpan(startStatements(parent, statements), run) : run());

function startStatements(parent: Span, statements: readonly Statement[]): Span {
  const texts = statements.map(({ text }) => text.trim());
  const verbs = new Set(texts.map((text) => /^\w+/.exec(text)?.[0].toLowerCase() ?? 'sql'));
  return parent.startChild([...verbs].join(' '), {
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.query.text': texts.join(';\n'),
      'db.operation.batch.size': texts.length > 1 ? texts.length : undefined,
    },
  });
}
