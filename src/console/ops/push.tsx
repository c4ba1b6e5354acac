export function PushPage() {
  return <p>soon</p>;
}
