"""A client of gRPC's own library, with code that its own compiler made of the .proto file.

Run by Debian's Python (/usr/bin/python3), which has that library:
    grpcpeer.py STUBS ADDRESS TOKEN ITEMID [CA_FILE]
Prints what it saw as one JSON object.
"""

import json
import sys

import grpc

sys.path.insert(0, sys.argv[1])
import history_service_pb2 as pb  # noqa: E402
import history_service_pb2_grpc as rpc  # noqa: E402


def channel(address, ca_file):
    if not ca_file:
        return grpc.insecure_channel(address)
    with open(ca_file, "rb") as f:
        return grpc.secure_channel(address, grpc.ssl_channel_credentials(f.read()))


def refused(call):
    """Code and trailers of a call that has to fail."""
    try:
        call()
    except grpc.RpcError as error:
        told = [pair for pair in error.trailing_metadata() if pair[0].startswith("vedette-")]
        return [error.code().name, dict(told)]
    return ["OK", {}]


def main():
    address, token, itemid = sys.argv[2], sys.argv[3], int(sys.argv[4])
    history = rpc.HistoryStub(channel(address, sys.argv[5] if len(sys.argv) > 5 else None))
    signed = {"metadata": [("authorization", "Bearer " + token)], "timeout": 60}
    told = {}

    def batches(count, each):
        for n in range(count):
            values = [
                pb.Value(itemid=itemid, clock=1_700_000_000 + n, ns=m, unsigned=n * each + m)
                for m in range(each)
            ]
            yield pb.WriteRequest(sequence=n, values=values, synced=n == 0)

    replies = list(history.Write(batches(20, 1000), **signed))
    told["replies"] = [[reply.sequence, reply.kept, len(reply.refused)] for reply in replies]
    again = history.WriteOnce(pb.WriteRequest(
        sequence=77, resend=True, values=[
            pb.Value(itemid=itemid, clock=1_700_000_000, ns=0, unsigned=0),
            pb.Value(itemid=99999999, text="x"),
            pb.Value(itemid=itemid),
        ]), **signed)
    told["again"] = [again.sequence, again.kept, [
        [one.index, one.failure.reason, one.failure.fault, one.failure.retry]
        for one in again.refused
    ]]
    pages = list(history.Range(pb.RangeRequest(items=[pb.ItemName(itemid=itemid)]), **signed))
    told["pages"] = [len(page.samples) for page in pages]
    told["read"] = [one.unsigned for page in pages for one in page.samples]
    newest = list(history.Newest(
        pb.NewestRequest(items=[pb.ItemName(itemid=itemid)], count=2), **signed))
    told["newest"] = [one.unsigned for page in newest for one in page.samples]
    told["hours"] = [
        [one.hour, one.count, one.unsigned.min, one.unsigned.max]
        for page in history.Trends(
            pb.TrendsRequest(items=[pb.ItemName(itemid=itemid)]), **signed) for one in page.trends
    ]
    items = [pb.ItemName(itemid=itemid)]
    told["stranger"] = refused(lambda: list(history.Range(
        pb.RangeRequest(items=items), metadata=[("authorization", "Bearer nobody")], timeout=60)))
    told["nobody"] = refused(lambda: list(history.Write(iter([pb.WriteRequest()]), timeout=60)))
    told["no item"] = refused(lambda: list(history.Range(
        pb.RangeRequest(items=[pb.ItemName(host="no", key="no")]), **signed)))
    told["too many"] = refused(lambda: history.WriteOnce(
        pb.WriteRequest(values=[pb.Value(itemid=itemid, unsigned=1)] * 10_001), **signed))
    print(json.dumps(told))


main()
