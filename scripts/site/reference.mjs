/** Returns the reference as Markdown: the description of the contract, then every operation by tag. */
export function referenceMarkdown({ info, paths, tags, webhooks }) {
  const operations = listOperations(paths);
  const sent = listOperations(webhooks);
  const sections = tags
    .map(({ name, description }) => ({
      name,
      description,
      operations: [...operations, ...sent].filter(({ operation }) => operation.tags.includes(name)),
    }))
    .filter((tag) => tag.operations.length > 0)
    .map((tag) => `## ${tag.name}\n\n${tag.description}\n\n${tag.operations.map(section).join('\n\n')}`);
  return `# API reference

Every operation of the API. The [OpenAPI document](/openapi.yaml) also has every field, limit and failure.

${info.description.trim()}

${sections.join('\n\n')}
`;
}

function section({ path, method, operation }) {
  const { operationId, summary, description = '', requestBody, 'x-permission': permission } = operation;
  const types = Object.keys(requestBody?.content ?? {}).map((type) => `\`${type}\``);
  const facts = [
    path.startsWith('/') ? `\`${method.toUpperCase()} ${path}\`` : 'A request that we send to you.',
    `Operation \`${operationId}\`.`,
    ...(permission ? [`Permission \`${permission}\`.`] : []),
    ...(types.length > 0 ? [`Body: ${types.join(' or ')}.`] : []),
  ];
  return `### ${summary}\n\n${facts.join(' ')}\n\n${description.trim()}`;
}

const METHODS = ['get', 'post', 'put', 'delete'];

const listOperations = (paths = {}) =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({ path, method, operation: item[method] })),
  );
