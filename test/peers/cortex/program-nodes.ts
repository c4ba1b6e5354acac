/** Takes the place of CortexPrism's list of nodes, which is in a database: a node's id is its address. */
export function getNode(nodeId: string): { readonly nodeId: string; readonly a2aEndpoint: string } {
  return { nodeId, a2aEndpoint: nodeId };
}
