//! What is compiled once for the process: the code generator's settings and the way out to Rust.

use std::sync::{Arc, OnceLock};

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use super::memory::Executable;
use crate::jit::Refusal;

/// Arguments of a helper besides the context.
pub(super) const HELPER_ARGUMENTS: usize = 3;

pub(super) struct Host {
    pub(super) isa: OwnedTargetIsa,
    /// Calls a helper and clobbers no register: `(context, helper, a, b, c)`. Machine code goes there in rare cases, and must
    /// not spill for them what it keeps in registers otherwise.
    stub: Executable,
    /// Whether bytes of a vector can be shuffled.
    pub(super) shuffles: bool,
}

impl Host {
    pub(super) fn shared() -> Result<&'static Arc<Self>, Refusal> {
        static HOST: OnceLock<Result<Arc<Host>, Refusal>> = OnceLock::new();
        HOST.get_or_init(|| Self::new().map(Arc::new)).as_ref().map_err(|refusal| *refusal)
    }

    fn new() -> Result<Self, Refusal> {
        if !slices_are_start_and_length() {
            return Err(Refusal::NotSupported);
        }
        let isa = isa().ok_or(Refusal::NotSupported)?;
        let code = stub(isa.as_ref()).ok_or(Refusal::NotSupported)?;
        let stub = Executable::new(&code).ok_or(Refusal::NoExecutableMemory)?;
        #[cfg(target_arch = "x86_64")]
        let shuffles = std::is_x86_feature_detected!("ssse3");
        #[cfg(not(target_arch = "x86_64"))]
        let shuffles = true;
        Ok(Self { isa, stub, shuffles })
    }

    pub(super) fn stub(&self) -> i64 {
        self.stub.address(0) as i64
    }

    pub(super) fn helper_signature(&self) -> Signature {
        let mut signature = Signature::new(self.isa.default_call_conv());
        signature.params = vec![AbiParam::new(types::I64); 1 + HELPER_ARGUMENTS];
        signature
    }
}

pub(super) fn stub_signature() -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params = vec![AbiParam::new(types::I64); 2 + HELPER_ARGUMENTS];
    signature
}

fn isa() -> Option<OwnedTargetIsa> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    // "speed" compiles slower and, measured, runs no faster: it keeps more alive than there are registers.
    for (name, value) in [
        ("opt_level", "none"),
        ("enable_verifier", verify),
        ("enable_probestack", "false"),
        ("unwind_info", "false"),
        ("machine_code_cfg_info", "false"),
    ] {
        flags.set(name, value).ok()?;
    }
    cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
}

/// Slices of bytes are handed to machine code as they are; their layout is not promised, so look.
fn slices_are_start_and_length() -> bool {
    let bytes = [1_u8, 2, 3];
    let slice: &[u8] = &bytes[1..];
    // SAFETY: any two words are two numbers; both types have the same size, or this does not compile.
    let words: [usize; 2] = unsafe { std::mem::transmute(slice) };
    words == [slice.as_ptr() as usize, 2]
}

fn stub(isa: &dyn TargetIsa) -> Option<Vec<u8>> {
    let mut function = Function::with_name_signature(UserFuncName::user(0, 0), stub_signature());
    let mut builder_context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut function, &mut builder_context);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let params = b.block_params(block).to_vec();
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params = vec![AbiParam::new(types::I64); 1 + HELPER_ARGUMENTS];
    let signature = b.import_signature(signature);
    let mut arguments = vec![params[0]];
    arguments.extend(&params[2..]);
    b.ins().call_indirect(signature, params[1], &arguments);
    b.ins().return_(&[]);
    b.finalize(isa.frontend_config());
    let mut context = cranelift_codegen::Context::for_function(function);
    let code = context.compile(isa, &mut ControlPlane::default()).ok()?;
    code.buffer.relocs().is_empty().then(|| code.code_buffer().to_vec())
}
