export function MeshPage() {
  return <p>soon</p>;
}
