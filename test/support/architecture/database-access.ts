import ts from 'typescript';
import { importsOf } from './imports.js';
import { findNodes, type Source } from './source.js';

const AMBIENT_STATE = new Set(['AsyncLocalStorage', 'AsyncResource', 'WeakSet']);

/** Returns the uses of ambient state. The permissions of a request must be visible in its context argument. */
export const findAmbientState = (source: Source): string[] =>
  findNodes(
    source,
    (node) =>
      (ts.isIdentifier(node) && AMBIENT_STATE.has(node.text)) ||
      (ts.isStringLiteral(node) && /^(node:)?async_hooks$/.test(node.text)),
  );

/** Modules reach the database through their context, so they import nothing that opens a connection or a transaction. */
const OPENERS = /^src\/platform\/db\/(transactions\/.*|open-database|connections\/.*)\.ts$/;

/** Returns the imports and calls with which a module opens a connection or a transaction. Type imports are allowed. */
export function findConnections(source: Source): string[] {
  const imports = importsOf(source).filter(({ to, isType }) => !isType && OPENERS.test(to));
  return [
    ...imports.map(({ from, to }) => `${from} -> ${to}`),
    ...findNodes(source, (node) => isConnectionCall(node) || isDriverImport(node)),
  ];
}

/** `new Pool()`, `pool.connect()`, `pool.query()`, `prisma.$transaction()`, `prisma.user.findFirst()`. */
function isConnectionCall(node: ts.Node): boolean {
  if (ts.isNewExpression(node))
    return /(^|\.)(Pool|Client|PrismaClient|PrismaPg)$/.test(node.expression.getText());
  if (!ts.isCallExpression(node)) return false;
  const callee = node.expression.getText();
  return /(^|\.)(pool|prisma)\./.test(callee) || /\.\$(transaction|queryRaw|executeRaw)/.test(callee);
}

function isDriverImport(node: ts.Node): boolean {
  if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return false;
  if (node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return false;
  return /^(pg|@prisma\/.*)$|generated\/prisma\//.test(node.moduleSpecifier.text);
}
