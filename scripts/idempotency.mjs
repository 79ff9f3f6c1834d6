/**
 * Adds to every POST of a bundled contract what openapi/common/idempotency.yaml says of them all: the parameter, the
 * 409, and the header of a repeated answer. Written out by hand it would be 50 lines an operation, all alike.
 */
export function addIdempotencyKeys(bundle, { parameter, headers, conflict }) {
  const { components, paths } = bundle;
  components.parameters = { ...components.parameters, IdempotencyKey: parameter };
  components.headers = { ...components.headers, ...headers };
  const names = Object.keys(conflict.examples);
  components.examples = {
    ...components.examples,
    ...Object.fromEntries(names.map((name) => [exampleName(name), conflict.examples[name]])),
  };
  for (const { post } of Object.values(paths)) {
    if (!post || post['x-idempotency-exempt']) continue;
    post.parameters = [...(post.parameters ?? []), refTo('parameters', 'IdempotencyKey')];
    post.responses = withConflict(bundle, post.responses, conflict, names);
    for (const status of Object.keys(post.responses).filter(isKept)) markReplayable(bundle, post, status);
  }
  return bundle;
}

const refTo = (kind, name) => ({ $ref: `#/components/${kind}/${name}` });

/** `idempotency_key_reused` as the other examples are called: `IdempotencyKeyReused`. */
const exampleName = (code) => code.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());

/** The statuses of answers that are kept; of those with 403, `record_forbidden` alone is. */
const isKept = (status) => /^(?:2\d\d|400|403|404|409|422)$/.test(status);

/** An answer that operations share must not get what is one operation's. */
function ownResponse({ components }, responses, status) {
  const { $ref } = responses[status];
  return structuredClone($ref ? components.responses[$ref.split('/').at(-1)] : responses[status]);
}

function markReplayable(bundle, { responses }, status) {
  const own = ownResponse(bundle, responses, status);
  if (status === '403' && !JSON.stringify(own).includes('record_forbidden')) return;
  own.headers = { ...own.headers, 'Idempotency-Replayed': refTo('headers', 'IdempotencyReplayed') };
  responses[status] = own;
}

function withConflict(bundle, responses, { description }, names) {
  const own = responses['409'] && ownResponse(bundle, responses, '409');
  const media = own?.content['application/json'];
  const { example } = media ?? {};
  const examples = {
    ...(example
      ? { [example.code]: { summary: 'The record exists already', value: example } }
      : media?.examples),
    ...Object.fromEntries(names.map((name) => [name, refTo('examples', exampleName(name))])),
  };
  const conflict = {
    description: own ? `${own.description.trimEnd()} Or: ${description}` : description,
    headers: {
      'X-Request-Id': refTo('headers', 'XRequestId'),
      ...own?.headers,
      'Retry-After': refTo('headers', 'RetryAfterFirst'),
    },
    content: { 'application/json': { schema: refTo('schemas', 'Failure'), examples } },
  };
  // integer-like keys keep their order by value, whenever they were added
  return { ...responses, 409: conflict };
}
