import ts from 'typescript';
import { findNodes, type Source } from './source.js';

/** Rows enter a file through a context, a transaction, or the types of a queries file. */
const ROW_SOURCE = /from '[^']*(?:platform\/(?:context|db)\/[^']*|queries\.js)'/;

/** Values that may be cast in a file that handles rows, because they are not rows: keys, parsed JSON. */
const OTHER_VALUES = /^(?:Object\.(?:keys|entries)|JSON\.parse)$/;

/** The methods that return rows of the type that their statements state. */
const QUERY_METHODS = new Set(['query', 'read', 'write']);

/**
 * Returns the casts of rows in a file, and the row types that are stated where a statement is run. In a file that handles rows
 * every cast counts, unless its operand cannot be a row. So the check also finds rows that were bound to a variable, passed to
 * a function or destructured. `as const` does not count.
 */
export function findRowCasts(source: Source): string[] {
  if (!ROW_SOURCE.test(source.text)) return [];
  return findNodes(source, (node) => isRowCast(node) || statesRowType(node));
}

function isRowCast(node: ts.Node): boolean {
  if (!ts.isAsExpression(node) && !ts.isTypeAssertionExpression(node)) return false;
  return !ts.isConstTypeReference(node.type) && !isOtherValue(node.expression);
}

/** `tx.query<Row>(statement)`: the row type belongs to the statement. */
function statesRowType(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !node.typeArguments) return false;
  const { expression: callee } = node;
  if (!ts.isPropertyAccessExpression(callee) || !QUERY_METHODS.has(callee.name.text)) return false;
  // With pg's pool and clients, statements are plain text, so the type argument is the only type.
  return ['tx', 'ctx'].includes(callee.expression.getText());
}

function isOtherValue(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return isOtherValue(node.expression);
  if (ts.isCallExpression(node)) return OTHER_VALUES.test(node.expression.getText());
  // By convention the name of a caught error.
  return ts.isIdentifier(node) && (node.text === 'error' || isElementOfOther(node));
}

/** Whether a loop or a callback binds the name to an element of another value: `Object.entries(fields).map(([name]) => ...)`. */
function isElementOfOther(name: ts.Identifier): boolean {
  for (let node: ts.Node = name.parent; !ts.isSourceFile(node); node = node.parent) {
    if (ts.isForOfStatement(node) && binds(node.initializer, name)) return isOtherValue(node.expression);
    if (ts.isFunctionLike(node) && node.parameters.some((parameter) => binds(parameter, name)))
      return isCallbackOfOther(node);
  }
  return false;
}

function isCallbackOfOther({ parent }: ts.Node): boolean {
  if (!ts.isCallExpression(parent) || !ts.isPropertyAccessExpression(parent.expression)) return false;
  return isOtherValue(parent.expression.expression);
}

function binds(declaration: ts.Node, name: ts.Identifier): boolean {
  if (ts.isIdentifier(declaration)) return declaration.text === name.text;
  return ts.forEachChild(declaration, (child) => binds(child, name)) ?? false;
}
