export function AgentsPage() {
  return <p>soon</p>;
}
