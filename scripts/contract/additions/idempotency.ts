/**
 * Adds to every POST of a bundled contract the parameter `Idempotency-Key`, and to its successes the header of a repeated
 * response. scripts/failures.mjs adds the failures.
 */
export function addIdempotencyKeys(bundle, { parameter, headers }) {
  const { components, paths } = bundle;
  components.parameters = { ...components.parameters, IdempotencyKey: parameter };
  components.headers = { ...components.headers, ...headers };
  for (const { post } of Object.values(paths)) {
    if (!post || post['x-idempotency-exempt']) continue;
    post.parameters = [...(post.parameters ?? []), refTo('parameters', 'IdempotencyKey')];
    for (const [status, response] of Object.entries(post.responses))
      if (status.startsWith('2')) markReplayable(response);
  }
  return bundle;
}

const refTo = (kind, name) => ({ $ref: `#/components/${kind}/${name}` });

function markReplayable(response) {
  if (response.$ref)
    throw new Error(
      'Define the success response of a POST inline. Changing a shared one would affect other operations.',
    );
  response.headers = { ...response.headers, 'Idempotency-Replayed': refTo('headers', 'IdempotencyReplayed') };
}
