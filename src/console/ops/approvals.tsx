export function ApprovalsPage() {
  return <p>soon</p>;
}
